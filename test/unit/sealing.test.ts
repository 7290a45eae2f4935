// What is sealed.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { encodeGrant } from '../../lib/grants/grant.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import { RECORD_LIMIT } from '../../lib/user-information.ts'
import { recordOf } from '../helpers/host.ts'
import { seed } from '../helpers/seed.ts'

const randomKey = () => randomBytes(32).toString('base64url')
const bytesOf = (sealed: string) => Buffer.from(sealed, 'base64url')

t.test('AES-256-GCM: test cases 13 and 14 of the GCM specification (McGrew and Viega, appendix B)', async (t) => {
  const zeros = Buffer.alloc(32).toString('base64url')
  const hex = (sealed: string) => bytesOf(sealed).toString('hex')
  t.equal(hex(seal([zeros], '')), '01530f8afbc74536b9a963b4f1c4cb738b')
  t.equal(hex(seal([zeros], '\0'.repeat(16))), '01cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
})

t.test('any text opens with its key, and neither with another nor changed', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
    const key = randomKey()
    const sealed = seal([key], text)
    t.equal(open([key], sealed), text)
    t.equal(open([randomKey()], sealed), null)
    const bytes = bytesOf(sealed)
    bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 1
    t.equal(open([key], bytes.toString('base64url')), null)
    t.equal(open([key], sealed.slice(0, at % sealed.length)), null)
  }), { numRuns: 100, seed })
})

t.test('each of many keys opens what is sealed with all of them, and one of them is enough', async (t) => {
  const record = { ...recordOf('u-1'), name: '' }
  record.name = 'x'.repeat(RECORD_LIMIT - JSON.stringify(record).length)
  const text = encodeGrant({ codeChallenge: 'c'.repeat(43), record })
  for (const count of [1, 2, 9, 10, 99]) {
    const keys = Array.from({ length: count }, randomKey)
    const sealed = seal(keys, text)
    t.ok(sealed.length <= 22_000 * count, `${count} keys`)
    t.ok(keys.every((key) => open([key], sealed) === text), `${count} keys`)
    t.equal(open([randomKey(), keys.at(-1) as string, randomKey()], sealed), text, `the last of ${count}`)
    t.equal(open([randomKey(), randomKey()], sealed), null, `none of ${count}`)
    t.equal(open([], sealed), null, `no key of ${count}`)
  }
})

t.test('what is not a sealed value', async (t) => {
  const key = randomKey()
  const copy = bytesOf(seal([key], 'text')).subarray(1)
  const valueOf = (count: number, ...parts: Buffer[]) =>
    Buffer.concat([Buffer.of(count), ...parts]).toString('base64url')
  t.equal(open([key], valueOf(1, copy)), 'text')
  for (const value of [
    '', 'A', 'AQ', copy.toString('base64url'), valueOf(0), valueOf(0, copy), valueOf(2, copy), valueOf(255, copy),
    valueOf(1, copy, Buffer.of(0)), valueOf(1, Buffer.alloc(15)), valueOf(3, copy, copy)
  ]) {
    t.equal(open([key], value), null, value)
  }
  t.equal(open([key], valueOf(2, copy, Buffer.alloc(copy.length))), 'text', 'a copy that somebody adds changes nothing')
  for (const keys of [[key], [key, randomKey()]]) {
    const text = 'x'.repeat(16_500 - 16)
    t.ok(open([key], seal(keys, text)) === text, `${keys.length} keys`)
    t.equal(open([key], seal(keys, `${text}x`)), null, `${keys.length} keys: too long for a record`)
  }
})
