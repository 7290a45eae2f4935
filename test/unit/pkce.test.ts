// The forms of RFC 7636 sections 4.1 and 4.2, and its appendix B.
import { createHash } from 'node:crypto'
import t from 'tap'
import { isCodeChallenge, verifies } from '../../lib/grants/pkce.ts'

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

t.test('the example of the RFC; each of its 43 characters is compared', async (t) => {
  t.ok(isCodeChallenge(CHALLENGE))
  t.ok(verifies(VERIFIER, CHALLENGE))
  t.notOk(verifies(`e${VERIFIER.slice(1)}`, CHALLENGE))
  for (let index = 0; index < CHALLENGE.length; index++) {
    const other = CHALLENGE[index] === 'A' ? 'B' : 'A'
    const changed = CHALLENGE.slice(0, index) + other + CHALLENGE.slice(index + 1)
    t.notOk(verifies(VERIFIER, changed), `character ${index + 1}`)
  }
})

t.test('a challenge is 43 characters of base64url', async (t) => {
  const part = CHALLENGE.slice(1)
  const ends = [`${CHALLENGE}!`, `${CHALLENGE}\n`, `${part}=`, `${part}+`]
  for (const other of ['', part, `${CHALLENGE}A`, `!${CHALLENGE}`, ...ends]) t.notOk(isCodeChallenge(other), other)
})

t.test('a verifier is 43 to 128 unreserved characters', async (t) => {
  const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
  const fits = (verifier: string): boolean => verifies(verifier, challengeOf(verifier))
  const shortest = 'a'.repeat(43)
  for (const good of [shortest, 'a'.repeat(128), `${'a'.repeat(40)}-._~Z9`]) t.ok(fits(good), good)
  const strange = [`${shortest}!`, `!${shortest}`, `${shortest}\n`, `${shortest}é`]
  for (const bad of ['', 'a'.repeat(42), 'a'.repeat(129), ...strange]) t.notOk(fits(bad), bad)
})
