// Secrets, their derivation and what is sealed with it (contract section 6).
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import t from 'tap'
import { deriveKeys, expand, isSecret, open, randomSecret, seal } from '../../lib/sealing.ts'

t.test('a secret is 384 random bits, each drawn once', async (t) => {
  const secrets = Array.from({ length: 1000 }, randomSecret)
  t.equal(new Set(secrets).size, 1000)
  for (const secret of secrets) {
    t.equal(Buffer.from(secret, 'base64url').length, 48)
    t.ok(isSecret(secret))
  }
  for (const other of ['', 'A'.repeat(63), 'A'.repeat(65), `${'A'.repeat(63)}=`, `${'A'.repeat(64)}\n`]) t.notOk(isSecret(other))
})

t.test('the derivation is HKDF-Expand of RFC 5869', async (t) => {
  // hkdfSync extracts first: its pseudorandom key is HMAC(salt, input).
  const [input, salt] = [randomBytes(32), randomBytes(32)]
  const key = createHmac('sha384', salt).update(input).digest()
  t.same(expand(key.toString('base64url'), 'an info'), Buffer.from(hkdfSync('sha384', input, salt, 'an info', 48)))
})

t.test('the two keys are apart from each other, and bound to the secret and the info', async (t) => {
  const secret = randomSecret()
  const keys = deriveKeys(secret, 'a')
  t.equal(Buffer.from(keys.storageKey, 'base64url').length, 16)
  t.equal(keys.sealingKey.length, 32)
  t.notOk(keys.sealingKey.includes(Buffer.from(keys.storageKey, 'base64url')))
  t.same(deriveKeys(secret, 'a'), keys)
  t.notSame(deriveKeys(secret, 'b'), keys)
  t.notSame(deriveKeys(randomSecret(), 'a'), keys)
})

t.test('what is sealed opens with its key only, and unchanged only', async (t) => {
  const key = randomBytes(32)
  const text = 'text \u{1f600}\n'
  const sealed = seal(key, text)
  t.equal(open(key, sealed), text)
  t.equal(open(key, seal(key, '')), '')
  t.equal(open(randomBytes(32), sealed), null)
  for (let index = 0; index < sealed.length; index += 5) {
    const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1)
    t.equal(open(key, changed), null)
  }
  for (const other of ['', 'AAAA', sealed.slice(0, -8)]) t.equal(open(key, other), null)
})
