// A short run of load.js: two host processes on one Redis, sign-ins all the time, and a fault every second or so.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

t.test('no sign-in is doubled, and none is left hanging', async (t) => {
  const command = fileURLToPath(new URL('load.js', import.meta.url))
  const flags = ['--minutes', '0.25', '--workers', '6']
  const env = { PATH: process.env.PATH }
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...flags], { env })
  t.comment(stdout.trim())
  const result = JSON.parse(stdout)
  t.equal(result.doubled, 0)
  t.equal(result.hung, 0)
  t.ok(result.finished > 0 && result.refused > 0, 'some were finished, some refused')
  const ended = result.finished + result.refused + result.startedAgain + result.raced + result.cutOff
  t.equal(result.tried, ended, 'each came to an end')
  t.ok(Object.keys(result.faults).length > 3)
  t.ok(result.works, 'and sign-ins work afterwards')
})
