// The checks that are no tests, beside the tests: some of those wait for servers.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

t.jobs = 2

const checks = { 'the linter finds nothing': 'lint', 'the types of lib and test are right': 'types' }

for (const [name, script] of Object.entries(checks)) {
  t.test(name, async (t) => {
    // Without what tap loads into each program of Node: TypeScript 7 does not start with it.
    const end = promisify(execFile)('env', ['-u', 'NODE_OPTIONS', 'npm', 'run', '-s', script])
    t.equal(await end.then(() => '', ({ stdout, stderr }) => `${stdout}${stderr}`), '')
  })
}
