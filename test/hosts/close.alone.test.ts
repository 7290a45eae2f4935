// A process whose app is closed ends by itself: the plugin leaves nothing open. test/faults closes apps under load.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startRedis } from '../helpers/redis.ts'

const program = (options: object, isUsed: boolean) => `
  import { partnerApp } from './test/app.js'
  import { inProcess } from './test/wire.js'
  const app = partnerApp({ options: ${JSON.stringify(options)} })
  await app.ready()
  const portal = inProcess(app)
  if (${isUsed}) console.log((await portal.user(await portal.accessToken())).status)
  if (${isUsed}) await portal.code()
  await app.close()
  console.log('closed')
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
    t.equal(stdout, isUsed ? '200\nclosed\n' : 'closed\n', JSON.stringify(options))
  }
})
