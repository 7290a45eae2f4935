// A short run of load.js: two host processes on one Redis, sign-ins all the time, and every fault once at least.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { freePort } from '../helpers/ports.ts'

t.test('no sign-in is doubled, and none is left hanging', async (t) => {
  const command = fileURLToPath(new URL('load.js', import.meta.url))
  const argv = [command, '--minutes', '0.1', '--workers', '6', '--port', String(await freePort())]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { PATH: process.env.PATH } })
  t.comment(stdout.trim())
  const result = JSON.parse(stdout)
  t.equal(result.doubled, 0)
  t.equal(result.hung, 0)
  t.ok(result.finished > 0 && result.refused > 0, 'some were finished, some refused')
  const { finished, refused, startedAgain, raced, cutOff } = result
  t.equal(result.tried, finished + refused + startedAgain + raced + cutOff, 'each has ended')
  t.equal(Object.keys(result.faults).length, 8, 'every fault was injected')
  t.ok(result.works, 'and sign-ins work afterwards')
})
