// The forms of RFC 7636 sections 4.1 and 4.2, and its appendix B.
import t from 'tap'
import { isCodeChallenge, verifies } from '../../lib/grants/pkce.ts'
import { CHALLENGE, challenge, VERIFIER } from '../helpers/wire.ts'

t.test('the example of the RFC', async (t) => {
  t.ok(isCodeChallenge(CHALLENGE))
  t.ok(verifies(VERIFIER, CHALLENGE))
  t.notOk(verifies(`e${VERIFIER.slice(1)}`, CHALLENGE))
  for (const changed of [`F${CHALLENGE.slice(1)}`, `${CHALLENGE.slice(0, -1)}N`, CHALLENGE.toLowerCase()]) {
    t.notOk(verifies(VERIFIER, changed), changed)
  }
})

t.test('a challenge is 43 characters of base64url', async (t) => {
  const part = CHALLENGE.slice(1)
  for (const other of [part, `${CHALLENGE}A`, `!${part}`, `${CHALLENGE}\n`, `${part}=`, `${part}+`]) {
    t.notOk(isCodeChallenge(other), other)
  }
})

t.test('a verifier is 43 to 128 unreserved characters', async (t) => {
  const fits = (verifier: string): boolean => verifies(verifier, challenge(verifier).code_challenge)
  const shortest = 'a'.repeat(43)
  for (const good of [shortest, 'a'.repeat(128), `${'a'.repeat(40)}-._~Z9`]) t.ok(fits(good), good)
  for (const bad of ['a'.repeat(42), 'a'.repeat(129), `${shortest}!`, `!${shortest}`, `${shortest}\n`]) {
    t.notOk(fits(bad), bad)
  }
})
