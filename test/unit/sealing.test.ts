// What is sealed, and the random secrets.
import * as crypto from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import type * as secrets from '../../lib/grants/random-secret.ts'
import { open, openWithAny, seal } from '../../lib/grants/sealing.ts'
import { RECORD_LIMIT } from '../../lib/user-information.ts'
import { lib } from '../helpers/lib.ts'
import { seed } from '../helpers/seed.ts'

const randomKey = () => crypto.randomBytes(32).toString('base64url')

t.test('AES-256-GCM: test cases 13 and 14 of the GCM specification (McGrew and Viega, appendix B)', async (t) => {
  const zeros = Buffer.alloc(32).toString('base64url')
  const hex = (sealed: string) => Buffer.from(sealed.slice('1_'.length), 'base64url').toString('hex')
  t.equal(hex(seal([zeros], '')), '530f8afbc74536b9a963b4f1c4cb738b')
  t.equal(hex(seal([zeros], '\0'.repeat(16))), 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
})

t.test('any text opens with its key, and neither with another nor changed', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
    const key = randomKey()
    const sealed = seal([key], text)
    t.equal(open(key, sealed), text)
    t.equal(open(randomKey(), sealed), null)
    const bytes = Buffer.from(sealed.slice('1_'.length), 'base64url')
    bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 1
    t.equal(open(key, `1_${bytes.toString('base64url')}`), null)
    t.equal(open(key, sealed.slice(0, at % sealed.length)), null)
  }), { numRuns: 100, seed })
})

t.test('each of many keys opens what is sealed with all of them, and one of them is enough', async (t) => {
  // As the longest record, whose external_id is a second time in the grant.
  const text = 'x'.repeat(2 * RECORD_LIMIT)
  for (const count of [1, 2, 9, 10, 99]) {
    const keys = Array.from({ length: count }, randomKey)
    const sealed = seal(keys, text)
    t.match(sealed, new RegExp(`^${count}_[\\w-]+$`), `${count} keys`)
    t.ok(keys.every((key) => open(key, sealed) === text), `${count} keys`)
    t.equal(openWithAny([randomKey(), keys.at(-1) as string, randomKey()], sealed), text, `the last of ${count}`)
    t.equal(openWithAny([randomKey(), randomKey()], sealed), null, `none of ${count}`)
    t.equal(openWithAny([], sealed), null, `no key of ${count}`)
  }
})

t.test('what is not a sealed value', async (t) => {
  const key = randomKey()
  const sealed = seal([key], 'text')
  const copy = sealed.slice('1_'.length)
  for (const value of ['', '_', '1_', copy, `_${copy}`, `0_${copy}`, `01_${copy}`, `2_${copy}`, `100_${copy}`,
    `x${sealed}`, `1_${'A'.repeat(20)}`, ` ${sealed}`, sealed.replace('1_', '99_')]) {
    t.equal(open(key, value), null, value)
  }
  t.equal(open(key, `2_${copy}${'A'.repeat(copy.length)}`), 'text', 'a copy that somebody adds changes nothing')
  for (const keys of [[key], [key, randomKey()]]) {
    const text = 'x'.repeat(44_000 / 4 * 3 - 16)
    t.ok(open(key, seal(keys, text)) === text, `${keys.length} keys`)
    t.equal(open(key, seal(keys, `${text}x`)), null, `${keys.length} keys: too long for a record`)
  }
})

t.test('a secret is 33 bytes that the system drew; no byte is used twice, and none stays in memory', async (t) => {
  let pool: Buffer = Buffer.alloc(0)
  let drawn = pool
  let end = 0
  const randomFillSync = (bytes: Buffer): Buffer => {
    pool = crypto.randomFillSync(bytes)
    drawn = Buffer.from(pool)
    end = 0
    return pool
  }
  const mocks = { 'node:crypto': { ...crypto, randomFillSync } }
  const { randomSecret } = await t.mockImport<typeof secrets>(lib('grants/random-secret.ts'), mocks)
  const given = new Set<string>()
  for (let count = 0; count < 600; count++) {
    const text = randomSecret()
    const secret = Buffer.from(text, 'base64url')
    const start = drawn.indexOf(secret)
    t.strictSame([secret.length, start >= end, pool.includes(secret)], [33, true, false], `secret ${count}`)
    end = start + secret.length
    given.add(text)
  }
  t.equal(given.size, 600)
})
