// A process whose app is closed ends by itself, and at once: the plugin leaves nothing open, and no timer of a request
// that has ended. test/faults closes apps under load.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startRedis } from '../helpers/redis.ts'

const program = (options: object, isUsed: boolean) => `
  import { partnerApp, PORTAL } from './test/app.js'
  import { timers } from './test/helpers/timers.js'
  import { inProcess } from './test/wire.js'
  const findPortal = async () => PORTAL
  const app = partnerApp({ options: { portal: findPortal, ...${JSON.stringify(options)} } })
  await app.ready()
  const portal = inProcess(app)
  if (${isUsed}) console.log((await portal.user(await portal.accessToken())).status)
  if (${isUsed}) await portal.code()
  await app.close()
  // What closes a connection takes some milliseconds. A timer of a request would take thirty seconds: storeTimeout.
  const patience = performance.now() + 10_000
  while (timers() > 0 && performance.now() < patience) await new Promise((resolve) => setImmediate(resolve))
  console.log('closed, timers: ' + timers())
`

t.test('no handle is left open', async (t) => {
  const { url: redis } = await startRedis(t)
  for (const [options, isUsed] of [[{}, true], [{ redis }, true], [{ redis }, false]] as const) {
    // Without what tap loads into each program of Node: it takes half a second.
    const args = ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '--eval', program(options, isUsed)]
    // The limit only ends the wait for a process that hangs.
    const { stdout } = await promisify(execFile)('env', args, {
      cwd: new URL('../..', import.meta.url), timeout: 60_000
    })
    t.equal(stdout, `${isUsed ? '200\n' : ''}closed, timers: 0\n`, JSON.stringify(options))
  }
})
