// Which of its sign-ins a browser finds, and which are dropped when there are too many.
import t from 'tap'
import type { Attempt } from '../../../lib/simulator/serve/attempt.ts'
import { Attempts } from '../../../lib/simulator/serve/attempts.ts'

const attempt = (id: string, cameBack = false): Attempt =>
  ({ id, cameBack, signIn: { state: `state of ${id}` } }) as unknown as Attempt

await t.test('the newest first, and comes back to the one whose state it brings, or else to the newest', (t) => {
  const attempts = new Attempts()
  const session = attempts.add(attempt('first'), undefined)
  t.equal(attempts.add(attempt('second'), session), session)
  t.not(attempts.add(attempt('foreign'), undefined), session)
  t.strictSame(attempts.of(session).map(({ id }) => id), ['second', 'first'])
  t.equal(attempts.returned(session, 'state of first')?.id, 'first')
  t.equal(attempts.returned(session, 'a state of nobody')?.id, 'second')
  t.equal(attempts.returned(session, 'state of foreign')?.id, 'second')
  t.strictSame([attempts.find(undefined, 'none'), attempts.find(undefined, 'first')], [undefined, undefined])
  t.end()
})

await t.test('of more than a hundred, the oldest that never came back is dropped', (t) => {
  const attempts = new Attempts()
  const session = attempts.add(attempt('ended', true), undefined)
  for (let count = 0; count < 200; count++) attempts.add(attempt(`away-${count}`), undefined)
  t.ok(attempts.find(session, 'ended'))
  for (let count = 0; count < 100; count++) attempts.add(attempt(`back-${count}`, true), session)
  t.equal(attempts.find(session, 'ended'), undefined, 'then the oldest')
  t.equal(attempts.of(session).length, 100)
  t.end()
})
