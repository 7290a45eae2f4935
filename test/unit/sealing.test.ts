// Secrets, their derivation and what is sealed with it.
import * as crypto from 'node:crypto'
import { createDecipheriv, createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { type Test } from 'tap'
import * as ours from '../../lib/grants/sealing.ts'

const { cipherKey, derive, isSecret, open, randomSecret, seal, sealingKey, storageKey } = ours

t.test('a secret is 528 random bits, each drawn once', async (t) => {
  const secrets = Array.from({ length: 1000 }, randomSecret)
  t.equal(new Set(secrets).size, 1000)
  for (const secret of secrets) {
    t.equal(Buffer.from(secret, 'base64url').length, 66)
    t.ok(isSecret(secret))
  }
  const part = 'A'.repeat(87)
  for (const other of ['', part, `${part}AA`, `${part}=`, `${part}A\n`]) t.notOk(isSecret(other))
})

t.test('the derivation is the one-step one of NIST SP 800-56C section 4.1', async (t) => {
  const secret = randomSecret()
  const hashed = (algorithm: string) =>
    createHash(algorithm).update(Buffer.from([0, 0, 0, 1])).update(secret).update('an info').digest()
  const block = hashed('sha512')
  t.same(derive(secret, 'an info'), {
    storageKey: block.subarray(0, 15).toString('base64url'),
    locator: block.subarray(15, 30).toString('base64url'),
    sealingKey: block.subarray(30, 62)
  })
  t.same(sealingKey(secret, 'an info'), hashed('sha256'))
})

t.test('what is derived is bound to the secret and the info', async (t) => {
  const secret = randomSecret()
  const derived = derive(secret, 'a')
  t.equal(derived.storageKey.length, 20)
  t.equal(derived.sealingKey.length, 32)
  t.equal(derived.locator.length, 20)
  t.same(derive(secret, 'a'), derived)
  for (const other of [derive(secret, 'b'), derive(randomSecret(), 'a')]) {
    t.not(other.storageKey, derived.storageKey)
    t.notSame(other.sealingKey, derived.sealingKey)
    t.not(other.locator, derived.locator)
  }
})

t.test('the storage key of a text is as long as a derived one, and differs with the text', async (t) => {
  t.equal(storageKey('a').length, 20)
  t.equal(storageKey('a'), storageKey('a'))
  t.not(storageKey('a'), storageKey('b'))
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

/** The module with a source of random bytes that the test chooses, and the buffers that it was asked to fill. */
async function withRandom (t: Test, fill: (bytes: Buffer) => Buffer) {
  const filled: Buffer[] = []
  const randomFillSync = (bytes: Buffer) => { filled.push(bytes); return fill(bytes) }
  const mocks = { 'node:crypto': { ...crypto, randomFillSync } }
  const sealing = await t.mockImport<typeof ours>('../../lib/grants/sealing.ts', mocks)
  return { randomSecret: sealing.randomSecret, filled }
}

t.test('a secret is what the operating system drew, all of its bits, in order', async (t) => {
  const drawn: Buffer[] = []
  const { randomSecret, filled } = await withRandom(t, (bytes) => {
    crypto.randomFillSync(bytes)
    drawn.push(Buffer.from(bytes))
    return bytes
  })
  const secrets = Array.from({ length: 300 }, randomSecret)
  t.equal(Buffer.concat(secrets.map((secret) => Buffer.from(secret, 'base64url')))
    .equals(Buffer.concat(drawn).subarray(0, 300 * 66)), true)
  t.equal(filled.length, 3, 'a pool of 128 secrets is drawn at once')
})

t.test('no secret stays in the pool once it was drawn', async (t) => {
  const { randomSecret, filled } = await withRandom(t, (bytes) => bytes.fill(0xff))
  for (let count = 1; count <= 128; count++) {
    randomSecret()
    const [pool] = filled as [Buffer]
    t.equal(pool.lastIndexOf(0), count * 66 - 1, `${count} secrets are wiped`)
    t.equal(pool.indexOf(0xff), count === 128 ? -1 : count * 66, 'and nothing else')
  }
})

t.test('the cipher is given bytes or a KeyObject, whichever costs less on the release of Node', async (t) => {
  const key = randomBytes(32)
  for (const node of [2019, 2417, 2609, 2700]) t.equal(cipherKey(key, node), key, String(node))
  for (const node of [2418, 2422, 2500, 2608]) {
    t.match(cipherKey(key, node), { type: 'secret', symmetricKeySize: 32 }, String(node))
    t.ok((cipherKey(key, node) as crypto.KeyObject).export().equals(key))
  }
})
