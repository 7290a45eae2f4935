// A process whose app is closed ends by itself: the plugin leaves no timer, not even of a request that has ended, and
// nothing else that holds the process. test/faults closes apps under load.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startRedis } from '../helpers/redis.ts'

// It runs among the compiled tests, whose names end in `.js`.
const program = (options: object, isUsed: boolean) => `
  import { partnerApp, PORTAL } from './test/app.js'
  import { inProcess } from './test/wire.js'
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const findPortal = async () => PORTAL
  const app = partnerApp({ options: { portal: findPortal, ...${JSON.stringify(options)} } })
  await app.ready()
  const requests = inProcess(app)
  if (${isUsed}) {
    console.log((await requests.user(await requests.accessToken())).status)
    // This code is still stored, and waits for its expiry, when the app closes.
    await requests.code()
  }
  await app.close()
  // A connection needs some milliseconds to close. A timer that a request has left would stay for longer than this
  // wait: storeTimeout is thirty seconds.
  const patience = performance.now() + 10_000
  while (timers() > 0 && performance.now() < patience) await new Promise((resolve) => setImmediate(resolve))
  console.log('closed, timers: ' + timers())
`

t.test('no timer is left, and the process ends', async (t) => {
  const { url: redis } = await startRedis(t)
  for (const [options, isUsed] of [[{}, true], [{ redis }, true], [{ redis }, false]] as const) {
    // Without NODE_OPTIONS, by which tap loads into each program what takes half a second.
    const args = ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '--eval', program(options, isUsed)]
    // The limit only ends the wait for a process that hangs.
    const { stdout } = await promisify(execFile)('env', args, {
      cwd: new URL('../..', import.meta.url), timeout: 60_000
    })
    t.equal(stdout, `${isUsed ? '200\n' : ''}closed, timers: 0\n`, JSON.stringify({ options, isUsed }))
  }
})
