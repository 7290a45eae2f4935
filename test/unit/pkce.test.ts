// The forms of RFC 7636 sections 4.1 and 4.2, and its appendix B.
import t from 'tap'
import { isCodeChallenge, verifies } from '../../lib/grants/pkce.ts'
import { CHALLENGE, challenge, VERIFIER } from '../wire.ts'

t.test('the example of the RFC', async (t) => {
  t.ok(verifies(VERIFIER, CHALLENGE))
  for (const changed of [`F${CHALLENGE.slice(1)}`, `${CHALLENGE.slice(0, -1)}N`, CHALLENGE.toLowerCase()]) {
    t.notOk(verifies(VERIFIER, changed), changed)
  }
})

t.test('a challenge is 43 characters of base64url', async (t) => {
  t.ok(isCodeChallenge(CHALLENGE))
  const part = CHALLENGE.slice(1)
  for (const other of [part, `${CHALLENGE}A`, `!${part}`, `${CHALLENGE}\n`, `${part}=`]) {
    t.notOk(isCodeChallenge(other), other)
  }
})

t.test('a verifier is 43 to 128 unreserved characters', async (t) => {
  const shortest = `${'a'.repeat(37)}-._~Z9`
  for (const [verifier, fits] of [
    [shortest, true],
    ['a'.repeat(128), true],
    ['a'.repeat(42), false],
    ['a'.repeat(129), false],
    [`!${shortest}`, false],
    [`${shortest}\n`, false]
  ] as const) t.equal(verifies(verifier, challenge(verifier).code_challenge), fits, verifier)
})
