// Single use does not depend on timing. The requests of a sign-in, a replay, lifetimes that end and the
// faults of Redis are run in every order in which they can happen, over the real routes, codes and tokens. No code or
// token succeeds twice, and no token is alive after a replay was refused.
//
// Faults, at each operation of the store: the command is lost before it is executed, its reply is lost, the reply comes
// after the time limit, the reply has come when the time limit is over and is read before the timer fires, the command
// is refused. At any time: Redis is full, and refuses SET. A minute is the lifetime of codes and tokens.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { prepared } from '../helpers/prepared.ts'

interface Exploration { name: string, states: number, violations: Record<string, string[]> }

interface Results {
  explored: Exploration[]
  withMistakes: Array<Exploration & { fault: string }>
}

const { explored, withMistakes } = await prepared(async (): Promise<Results> => {
  const program = ['-u', 'NODE_OPTIONS', process.execPath, fileURLToPath(new URL('explore.js', import.meta.url))]
  const { stdout } = await promisify(execFile)('env', program, { maxBuffer: 2 ** 28 })
  return JSON.parse(stdout)
})

t.test('no order of a scene has a fault', async (t) => {
  for (const { name, states, violations } of explored) {
    t.ok(states > 1, name)
    t.strictSame(violations, {}, name)
  }
})

t.test('each mistake in a store is found', async (t) => {
  for (const { name, fault, violations } of withMistakes) t.ok(fault in violations, `${name}: ${fault}`, { violations })
})
