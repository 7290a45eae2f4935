// What is sealed, and the random secrets.
import * as crypto from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import type * as secrets from '../../lib/grants/random-secret.ts'
import { open, openWithAny, seal, sealForEach } from '../../lib/grants/sealing.ts'
import { lib } from '../helpers/lib.ts'
import { seed } from '../helpers/seed.ts'

const randomKey = () => crypto.randomBytes(32).toString('base64url')

t.test('AES-256-GCM: test cases 13 and 14 of the GCM specification (McGrew and Viega, appendix B)', async (t) => {
  const zeros = Buffer.alloc(32).toString('base64url')
  const hex = (sealed: string) => Buffer.from(sealed, 'base64url').toString('hex')
  t.equal(hex(seal(zeros, '')), '530f8afbc74536b9a963b4f1c4cb738b')
  t.equal(hex(seal(zeros, '\0'.repeat(16))), 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
})

t.test('any text opens with its key, and neither with another nor changed', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
    const key = randomKey()
    const sealed = seal(key, text)
    t.equal(open(key, sealed), text)
    t.equal(open(randomKey(), sealed), null)
    const bytes = Buffer.from(sealed, 'base64url')
    bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 1
    t.equal(open(key, bytes.toString('base64url')), null)
    t.equal(open(key, sealed.slice(0, at % sealed.length)), null)
  }), { numRuns: 100, seed })
})

t.test('sealed for each secret, opened with any of them', async (t) => {
  const [old, current, next] = [randomKey(), randomKey(), randomKey()]
  const texts = sealForEach([old, current], 'text')
  for (const keys of [[old], [current], [old, current], [current, old], [next, current]]) {
    const opened = openWithAny(keys, texts, 2)
    t.match(opened, { text: 'text' })
    t.ok(keys.includes(opened?.sealingKey as string))
    t.equal(open(opened?.sealingKey as string, opened?.sealed as string), 'text', 'the one that this key opens')
  }
  for (const [keys, count] of [[[next], 2], [[], 2], [[old], 1], [[old], 3]] as const) {
    t.equal(openWithAny([...keys], texts, count), null)
  }
})

/** The module with a source of random bytes that the test chooses. */
async function withRandom (t: Test, randomFillSync: (bytes: Buffer) => Buffer): Promise<() => string> {
  const mocks = { 'node:crypto': { ...crypto, randomFillSync } }
  return (await t.mockImport<typeof secrets>(lib('grants/random-secret.ts'), mocks)).randomSecret
}

t.test('a secret is 33 bytes of what the system drew, in order, and none is used twice', async (t) => {
  const pools: Buffer[] = []
  const randomSecret = await withRandom(t, (bytes) => {
    crypto.randomFillSync(bytes)
    pools.push(Buffer.from(bytes))
    return bytes
  })
  const drawn = Array.from({ length: 600 }, () => randomSecret())
  for (const secret of drawn) t.match(secret, /^[\w-]{44}$/)
  const used = pools.map((pool) => pool.subarray(0, pool.length - pool.length % 33))
  const given = Buffer.concat(drawn.map((secret) => Buffer.from(secret, 'base64url')))
  t.ok(given.equals(Buffer.concat(used).subarray(0, given.length)))
  t.equal(new Set(drawn).size, 600)
})

t.test('no secret stays in the pool', async (t) => {
  let pool: Buffer = Buffer.alloc(0)
  const randomSecret = await withRandom(t, (bytes) => (pool = bytes).fill(0xff))
  for (let count = 1; count <= 248; count++) {
    randomSecret()
    t.equal(pool.lastIndexOf(0), count * 33 - 1)
    t.equal(pool.indexOf(0xff), count * 33)
  }
})
