// What is sealed.
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { open, seal } from '../../lib/grants/sealing.ts'

const randomKey = () => randomBytes(32).toString('base64url')
const bytesOf = (sealed: string) => Buffer.from(sealed, 'base64url')

t.test('AES-256-GCM: test cases 13 and 14 of the GCM specification (McGrew and Viega, appendix B)', async (t) => {
  const zeros = Buffer.alloc(32).toString('base64url')
  const hex = (sealed: string) => bytesOf(sealed).toString('hex')
  t.equal(hex(seal([zeros], '')), '530f8afbc74536b9a963b4f1c4cb738b')
  t.equal(hex(seal([zeros], '\0'.repeat(16))), 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
})

t.test('a text opens with its key, and neither with another nor changed at any byte', async (t) => {
  const [key, text] = [randomKey(), 'zoë \u{1f600} \n']
  const sealed = seal([key], text)
  t.equal(open([key], sealed), text)
  t.equal(open([randomKey()], sealed), null)
  for (const [at, byte] of bytesOf(sealed).entries()) {
    const bytes = bytesOf(sealed)
    bytes[at] = byte ^ 1
    t.equal(open([key], bytes.toString('base64url')), null, `byte ${at} changed`)
    t.equal(open([key], bytes.subarray(0, at).toString('base64url')), null, `cut to ${at} bytes`)
  }
})

t.test('each of many keys opens what is sealed with all of them, and one of them is enough', async (t) => {
  const keys = Array.from({ length: 99 }, randomKey)
  const text = 'x'.repeat(20_000)
  const sealed = seal(keys, text)
  t.ok(keys.every((key) => open([key], sealed) === text))
  t.equal(open([randomKey(), keys.at(-1) as string, randomKey()], sealed), text, 'the last')
  t.equal(open([randomKey(), randomKey()], sealed), null, 'none')
  t.equal(open([], sealed), null, 'no key')
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
