// Which of its sign-ins a browser finds, and which are dropped when there are too many.
import t from 'tap'
import type { Attempt } from '../../../lib/simulator/serve/attempt.ts'
import { Attempts } from '../../../lib/simulator/serve/attempts.ts'

const attempt = (id: string, cameBack = false): Attempt =>
  ({ id, cameBack, signIn: { state: `state of ${id}` } }) as unknown as Attempt

t.test('the newest first, and comes back to the one whose state it brings, or else to the newest', async (t) => {
  const attempts = new Attempts()
  const session = attempts.add(attempt('first'), undefined)
  attempts.add(attempt('second'), session)
  t.not(attempts.add(attempt('foreign'), undefined), session)
  t.strictSame(attempts.of(session).map(({ id }) => id), ['second', 'first'])
  for (const [state, id] of [['first', 'first'], ['nobody', 'second'], ['foreign', 'second']] as const) {
    t.equal(attempts.returned(session, `state of ${state}`)?.id, id, state)
  }
})

t.test('of more than a hundred, the oldest that never came back is dropped', async (t) => {
  const attempts = new Attempts()
  const session = attempts.add(attempt('ended', true), undefined)
  for (let count = 0; count < 200; count++) attempts.add(attempt('away'), undefined)
  t.equal(attempts.of(session).length, 1)
  for (let count = 0; count < 100; count++) attempts.add(attempt(`back-${count}`, true), session)
  t.equal(attempts.of(session).at(-1)?.id, 'back-0', 'then the oldest')
})
