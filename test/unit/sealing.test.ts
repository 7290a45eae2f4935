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
  t.equal(hex(seal([zeros], '')), '530f8afbc74536b9a963b4f1c4cb738b')
  t.equal(hex(seal([zeros], '\0'.repeat(16))), 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
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
  const copy = seal([key], 'text')
  const short = bytesOf(copy).subarray(0, -12).toString('base64url')
  for (const value of ['', 'A', '.', `${copy}A`, `A${copy}`, copy.slice(0, -2), short, 'AA'.repeat(11)]) {
    t.equal(open([key], value), null, value)
  }
  t.equal(open([key], `..A.${copy}.`), 'text', 'copies that somebody adds change nothing')
})

t.test('a tag that was cut to its first four bytes authenticates nothing', async (t) => {
  const key = randomKey()
  const bytes = bytesOf(seal([key], ''))
  t.equal(bytes.length, 16)
  t.equal(open([key], bytes.subarray(0, 4).toString('base64url')), null)
})
