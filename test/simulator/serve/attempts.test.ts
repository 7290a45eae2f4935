// Which of its sign-ins a browser finds.
import t from 'tap'
import { type Attempt } from '../../../lib/simulator/serve/attempt.ts'
import { Attempts } from '../../../lib/simulator/serve/attempts.ts'

const attempt = (id: string): Attempt => ({ id, flow: { state: `state of ${id}` } }) as unknown as Attempt

await t.test('the newest first, and comes back to the one whose state it brings, or else to the newest', (t) => {
  const attempts = new Attempts()
  const session = attempts.add(attempt('first'), undefined)
  t.equal(attempts.add(attempt('second'), session), session)
  t.not(attempts.add(attempt('foreign'), undefined), session)
  t.strictSame(attempts.of(session).map(({ id }) => id), ['second', 'first'])
  t.equal(attempts.returned(session, 'state of first')?.id, 'first')
  t.equal(attempts.returned(session, 'a state of nobody')?.id, 'second')
  t.equal(attempts.returned(session, 'state of foreign')?.id, 'second')
  t.end()
})
