// Secrets, their derivation and what is sealed with it (contract section 6).
import { createDecipheriv, createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { address, derive, isSecret, open, randomSecret, seal, sealingKey } from '../../lib/grants/sealing.ts'

t.test('a secret is 528 random bits, each drawn once', async (t) => {
  const secrets = Array.from({ length: 1000 }, randomSecret)
  t.equal(new Set(secrets).size, 1000)
  for (const secret of secrets) {
    t.equal(Buffer.from(secret, 'base64url').length, 66)
    t.ok(isSecret(secret))
  }
  for (const other of ['', 'A'.repeat(87), 'A'.repeat(89), `${'A'.repeat(87)}=`, `${'A'.repeat(88)}\n`]) t.notOk(isSecret(other))
})

t.test('the derivation is the one-step one of NIST SP 800-56C section 4.1', async (t) => {
  const secret = randomSecret()
  const hashed = (algorithm: string) => createHash(algorithm).update(Buffer.from([0, 0, 0, 1])).update(secret).update('an info').digest()
  const block = hashed('sha512')
  t.same(derive(secret, 'an info'), {
    storageKey: block.subarray(0, 15).toString('base64url'),
    sealingKey: block.subarray(15, 47),
    successor: block.subarray(47, 62).toString('base64url')
  })
  t.same(sealingKey(secret, 'an info'), hashed('sha256'))
})

t.test('what is derived is bound to the secret and the info', async (t) => {
  const secret = randomSecret()
  const derived = derive(secret, 'a')
  t.equal(derived.storageKey.length, 20)
  t.equal(derived.sealingKey.length, 32)
  t.equal(derived.successor.length, 20)
  t.same(derive(secret, 'a'), derived)
  for (const other of [derive(secret, 'b'), derive(randomSecret(), 'a')]) {
    t.not(other.storageKey, derived.storageKey)
    t.notSame(other.sealingKey, derived.sealingKey)
    t.not(other.successor, derived.successor)
  }
})

t.test('an address is as long as a storage key, and another one for another text', async (t) => {
  t.equal(address('a').length, 20)
  t.equal(address('a'), address('a'))
  t.not(address('a'), address('b'))
})

t.test('the sealing key of a token is bound to its secret and the info', async (t) => {
  const secret = randomSecret()
  const key = sealingKey(secret, 'a')
  t.equal(key.length, 32)
  t.same(sealingKey(secret, 'a'), key)
  t.notSame(sealingKey(secret, 'b'), key)
  t.notSame(sealingKey(randomSecret(), 'a'), key)
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

t.test('a sealed value is AES-256-GCM with a nonce of 12 zero bytes, and a tag of 16 at its end', async (t) => {
  const key = randomBytes(32)
  const bytes = Buffer.from(seal(key, 'a text'), 'base64url')
  t.equal(bytes.length, 6 + 16)
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.alloc(12)).setAuthTag(bytes.subarray(6))
  t.equal(decipher.update(bytes.subarray(0, 6), undefined, 'utf8') + decipher.final('utf8'), 'a text')
})
