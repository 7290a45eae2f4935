import { describe } from '../flow/failure.ts'
import type { Leg } from '../flow/legs.ts'
import type { Rule } from './rule.ts'
import { expect, Untested } from './rule.ts'
import type { Subject } from './subject.ts'

/** What the rules have in common. */
const PROMISE = {
  fix: 'Let the store read and remove a value in one atomic command (Redis: GETDEL); try it with checkStore.',
  isSanity: true
} as const

/** Does the store keep its promises? */
export const STORE: readonly Rule[] = [
  {
    ...PROMISE,
    id: 'token.code-lifetime',
    sentence: 'A code is good for some seconds, and expires.',
    fix: 'Let the store keep values as they are, for the lifetime that it is given, in seconds.',
    isGate: true,
    // Good after some seconds; no longer after the lifetime, where that is known.
    async test (subject) {
      const { codeAge, codeLifetime, grant } = subject.options
      if (grant === undefined) {
        const { reading, exchange } = await redeemAfter(subject, codeAge)
        expect(reading.ok, `after ${codeAge / 1000} s: ${describe(exchange)}`, { exchange })
      }
      if (codeLifetime === null) throw new Untested('it needs the lifetime of a code, to wait for its end')
      const seconds = codeLifetime + 1
      expectRefused(await redeemAfter(subject, seconds * 1000), `a token, for a code of ${seconds} s ago`)
    }
  },
  {
    ...PROMISE,
    id: 'token.replayed-code',
    sentence: 'A used code is refused.',
    async test (subject) {
      const { leg } = await replayed(subject)
      expectRefused(leg, 'a token, for a code that was used')
    }
  },
  {
    ...PROMISE,
    id: 'token.replay-revokes',
    sentence: 'When a code is used twice, the token that it gave is revoked.',
    fix: 'Let `take` remove what it reads, and `revoke` put its mark in place of what the key holds; try checkStore.',
    async test (subject) {
      const { token } = await replayed(subject)
      expectRefused(await subject.user(token), 'the record, for the token of a code that was used twice')
    }
  },
  {
    ...PROMISE,
    id: 'token.wrong-caller-burns-nothing',
    sentence: 'A request with a wrong secret is refused and leaves the code as it was.',
    fix: 'The plugin checks the credentials before it takes the code: see whether something repeats the request.',
    async test (subject) {
      const grant = await subject.code()
      expectRefused(await subject.redeem(grant, 'a-secret-that-is-wrong'), 'a token, for a wrong client_secret')
      const { reading, exchange } = await subject.redeem(grant)
      expect(reading.ok, `then, with the right one: ${describe(exchange)}`)
    }
  }
]

/** The token of a code, and what the same code gets when it is sent again. */
const replayed = (subject: Subject) =>
  subject.once('replayed', async () => {
    const grant = await subject.code()
    return { token: await subject.token(grant), leg: await subject.redeem(grant) }
  })

function expectRefused ({ reading }: Leg<unknown>, got: string) {
  expect(!reading.ok, got)
}

/** Redeems a code of this age, in milliseconds. */
async function redeemAfter (subject: Subject, age: number) {
  const grant = await subject.code()
  await subject.options.wait(age, subject.signal)
  return subject.redeem(grant)
}
