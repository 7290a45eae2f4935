// Secrets, their derivation and what is sealed with it.
import * as crypto from 'node:crypto'
import { createDecipheriv, createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { type Test } from 'tap'
import * as ours from '../../lib/grants/sealing.ts'

const { cipherKey, derive, fingerprint, open, randomSecret, seal } = ours

const randomKey = () => randomBytes(32).toString('base64url')

t.test('a secret has as many random bytes as were asked for, each drawn once', async (t) => {
  const secrets = Array.from({ length: 1000 }, (_, index) => randomSecret(index % 2 === 0 ? 66 : 33))
  t.equal(new Set(secrets).size, 1000)
  for (const [index, secret] of secrets.entries()) {
    t.match(secret, index % 2 === 0 ? /^[\w-]{88}$/ : /^[\w-]{44}$/)
  }
})

t.test('the derivation is the one-step one of NIST SP 800-56C section 4.1', async (t) => {
  const secret = randomSecret(66)
  const block = createHash('sha512').update(Buffer.from([0, 0, 0, 1])).update(secret).update('an info').digest()
  const { sealingKey, ...names } = derive(secret, 'an info')
  t.equal(sealingKey.length, 43)
  t.same(Buffer.from(sealingKey, 'base64url'), block.subarray(30, 62))
  t.same(names, {
    storageKey: block.subarray(0, 15).toString('base64url'),
    locator: block.subarray(15, 30).toString('base64url')
  })
})

t.test('what is derived is bound to the secret and the info', async (t) => {
  const secret = randomSecret(66)
  const derived = derive(secret, 'a')
  t.equal(derived.storageKey.length, 20)
  t.equal(derived.sealingKey.length, 43)
  t.equal(derived.locator.length, 20)
  t.same(derive(secret, 'a'), derived)
  for (const other of [derive(secret, 'b'), derive(randomSecret(66), 'a')]) {
    t.not(other.storageKey, derived.storageKey)
    t.not(other.sealingKey, derived.sealingKey)
    t.not(other.locator, derived.locator)
  }
})

t.test('a fingerprint is as long as a storage key, and differs with the text', async (t) => {
  t.equal(fingerprint('a'), createHash('sha512').update('a').digest('base64url').slice(0, 20))
  t.not(fingerprint('a'), fingerprint('b'))
})

t.test('what is sealed opens with its key only, and unchanged only', async (t) => {
  const key = randomKey()
  const text = 'text \u{1f600}\n'
  const sealed = seal(key, text)
  t.equal(open(key, sealed), text)
  t.equal(open(key, seal(key, '')), '')
  t.equal(open(randomKey(), sealed), null)
  for (let index = 0; index < sealed.length; index += 5) {
    const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1)
    t.equal(open(key, changed), null)
  }
  for (const other of ['', 'AAAA', sealed.slice(0, -8)]) t.equal(open(key, other), null)
})

t.test('a sealed value is AES-256-GCM with a nonce of 12 zero bytes, and a tag of 16 at its end', async (t) => {
  const key = randomKey()
  const bytes = Buffer.from(seal(key, 'a text'), 'base64url')
  t.equal(bytes.length, 6 + 16)
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'base64url'), Buffer.alloc(12))
    .setAuthTag(bytes.subarray(6))
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
  const secrets = Array.from({ length: 300 }, () => randomSecret(66))
  // Of a pool, what is left when it has less than a secret is not used.
  const used = drawn.map((pool) => pool.subarray(0, pool.length - pool.length % 66))
  const handedOut = Buffer.concat(secrets.map((secret) => Buffer.from(secret, 'base64url')))
  t.ok(handedOut.equals(Buffer.concat(used).subarray(0, 300 * 66)))
  t.equal(filled.length, 3, 'a pool is drawn at once')
})

t.test('the last bytes of a pool are used, and not one more', async (t) => {
  const { randomSecret, filled } = await withRandom(t, (bytes) => bytes.fill(filled.length))
  for (let count = 0; count < 128; count++) t.match(randomSecret(64), /^(?:AQEB)+AQ$/)
  t.equal(filled.length, 1)
  t.match(randomSecret(64), /^(?:AgIC)+Ag$/)
  t.equal(filled.length, 2)
  // 64 bytes are left, one less than are asked for.
  for (let count = 0; count < 126; count++) randomSecret(64)
  t.match(randomSecret(65), /^(?:AwMD)+AwM$/)
})

t.test('no secret stays in the pool once it was drawn', async (t) => {
  const { randomSecret, filled } = await withRandom(t, (bytes) => bytes.fill(0xff))
  for (let count = 1; count <= 124; count++) {
    randomSecret(66)
    const [pool] = filled as [Buffer]
    t.equal(pool.lastIndexOf(0), count * 66 - 1, `${count} secrets are wiped`)
    t.equal(pool.indexOf(0xff), count * 66, 'and nothing else')
  }
})

t.test('the cipher is given bytes or a KeyObject, whichever costs less on the release of Node', async (t) => {
  const bytes = randomBytes(32)
  const key = bytes.toString('base64url')
  for (const node of [2019, 2417, 2609, 2700]) t.same(cipherKey(key, node), bytes, String(node))
  for (const node of [2418, 2422, 2500, 2608]) {
    t.match(cipherKey(key, node), { type: 'secret', symmetricKeySize: 32 }, String(node))
    t.ok((cipherKey(key, node) as crypto.KeyObject).export().equals(bytes))
  }
})
