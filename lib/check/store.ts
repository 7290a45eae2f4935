import { describe } from '../flow/failure.ts'
import type { Grant } from '../flow/legs.ts'
import type { Rule } from './rule.ts'
import { expect, Untested } from './rule.ts'
import type { Subject } from './subject.ts'
import { uncached } from './subject.ts'
import { quoted, reasonsOf } from './voice.ts'

const ATOMIC =
  'Let the store take a value in one atomic command (Redis: GETDEL), which reads and removes it; try it with ' +
  'checkStore of fastify-partner-sso/testing.'

/** Does the store keep its promises? */
export const STORE: readonly Rule[] = [
  {
    id: 'token.code-lifetime',
    severity: 'must',
    sentence: 'A code is good for some seconds, and expires.',
    fix: 'Let the store keep values as they are, for the lifetime that it is given, in seconds.',
    isGate: true,
    isSanity: true,
    test: lifetime
  },
  {
    id: 'token.replayed-code',
    severity: 'must',
    sentence: 'A used code is refused.',
    fix: ATOMIC,
    isSanity: true,
    test: async (subject) => {
      const { leg } = await replayed(subject)
      expect(!leg.reading.ok, 'a token, for a code that was used')
      expect(!reasonsOf(leg.exchange).includes('store_unavailable'), quoted(leg.exchange))
    }
  },
  {
    id: 'token.replay-revokes',
    severity: 'must',
    sentence: 'When a code is used twice, the token that it gave is revoked.',
    fix:
      'Let the store put the mark of `revoke` in place of what the key holds; try it with checkStore of ' +
      'fastify-partner-sso/testing.',
    isSanity: true,
    test: async (subject) => {
      const { token } = await replayed(subject)
      const { reading } = await subject.user(token)
      expect(!reading.ok, 'the record, for the token of a code that was used twice')
    }
  },
  {
    id: 'token.race',
    severity: 'must',
    sentence: 'Of requests with the same code at the same time one at most gets a token.',
    fix: ATOMIC,
    isSanity: true,
    test: async (subject) => {
      const grant = await subject.code()
      await oneAtMost(() => subject.redeem(grant), 3)
    }
  },
  {
    id: 'token.wrong-caller-burns-nothing',
    severity: 'must',
    sentence: 'A request with a wrong secret is refused and leaves the code as it was.',
    fix: 'The plugin checks the credentials before it takes the code: see whether something repeats the request.',
    isSanity: true,
    test: async (subject) => {
      const grant = await subject.code()
      const refused = await subject.redeem(grant, { clientSecret: subject.wrongSecret })
      expect(!refused.reading.ok, 'a token, for a wrong client_secret')
      const { reading, exchange } = await subject.redeem(grant)
      expect(reading.ok, `then, with the right one: ${describe(exchange)}`)
    }
  },
  {
    id: 'user.replayed-token',
    severity: 'must',
    sentence: 'A used access token is refused.',
    fix: ATOMIC,
    isSanity: true,
    test: async (subject) => {
      const token = await subject.accessToken()
      await subject.record(token)
      const { reading, exchange } = await subject.user(token)
      if (!reading.ok) return expect(!reasonsOf(exchange).includes('store_unavailable'), quoted(exchange))
      const again = await subject.user(token, uncached)
      expect(
        again.reading.ok,
        'the same record again for a used token, and a refusal at an address that was not asked before',
        { rule: 'service.no-cache' }
      )
      expect(false, 'the record, for a token that was used')
    }
  },
  {
    id: 'user.race',
    severity: 'must',
    sentence: 'Of requests with the same access token at the same time one at most gets the record.',
    fix: ATOMIC,
    isSanity: true,
    test: async (subject) => {
      const token = await subject.accessToken()
      await oneAtMost(() => subject.user(token), 4)
    }
  }
]

/** A code that was redeemed and sent again: with its token, where the check itself redeemed it. */
const replayed = (subject: Subject) =>
  subject.once('replayed', async () => {
    const { redeemed } = subject.options.material
    const grant = redeemed ?? (await subject.code())
    const token = redeemed === undefined ? await subject.token(grant) : ''
    return { token, leg: await subject.redeem(grant) }
  })

async function oneAtMost (send: () => Promise<{ reading: { ok: boolean } }>, count: number): Promise<void> {
  const legs = await Promise.all(Array.from({ length: count }, send))
  const winners = legs.filter(({ reading }) => reading.ok).length
  expect(winners <= 1, `${winners} of ${count} succeeded`)
}

/** Good after some seconds; no longer after the lifetime, where that is known. */
async function lifetime (subject: Subject): Promise<void> {
  const { codeAge, codeLifetime, material, wait } = subject.options
  if (material.grant === undefined) {
    const grant = await subject.code()
    await wait(codeAge, subject.signal)
    const { reading, exchange } = await subject.redeem(grant)
    expect(reading.ok, `after ${codeAge / 1000} s: ${describe(exchange)}`, { reasons: reasonsOf(exchange) })
  }
  if (codeLifetime === null) throw new Untested('it needs the lifetime of a code, to wait for its end')
  const grant: Grant = await subject.code()
  await wait((codeLifetime + 1) * 1000, subject.signal)
  const { reading } = await subject.redeem(grant)
  expect(!reading.ok, `a token, for a code of ${codeLifetime + 1} s ago`)
}
