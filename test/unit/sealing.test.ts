// What is sealed.
import { createSecretKey, randomBytes } from 'node:crypto'
import t from 'tap'
import { open, seal } from '../../lib/grants/sealing.ts'

const randomKey = () => createSecretKey(randomBytes(32))
const bytesOf = (sealed: string) => Buffer.from(sealed, 'base64url')

t.test('AES-256-GCM: test case 14 of the GCM specification (McGrew and Viega, appendix B)', async (t) => {
  const zeros = createSecretKey(Buffer.alloc(32))
  const sealed = bytesOf(seal([zeros], '\0'.repeat(16))).toString('hex')
  t.equal(sealed, 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
})

t.test('a text opens with its key, and neither with another nor changed at any byte', async (t) => {
  const key = randomKey()
  const text = 'zoë \u{1f600} \n'
  const sealed = seal([key], text)
  t.equal(open([key], sealed), text)
  for (const [at, byte] of bytesOf(sealed).entries()) {
    const bytes = bytesOf(sealed)
    bytes[at] = byte ^ 1
    t.equal(open([key], bytes.toString('base64url')), null, `byte ${at} changed`)
    t.equal(open([key], bytes.subarray(0, at).toString('base64url')), null, `cut to ${at} bytes`)
  }
})

t.test('each of many keys opens what is sealed with all of them, and one of them is enough', async (t) => {
  const keys = Array.from({ length: 9 }, randomKey)
  const text = 'x'.repeat(20_000)
  const sealed = seal(keys, text)
  for (const [index, key] of keys.entries()) t.equal(open([randomKey(), key], sealed), text, `key ${index}`)
  t.equal(open([randomKey(), randomKey()], sealed), null, 'none')
})

t.test('a tag that was cut to its first four bytes authenticates nothing', async (t) => {
  const key = randomKey()
  const tag = bytesOf(seal([key], '')).subarray(0, 4)
  t.equal(open([key], tag.toString('base64url')), null)
})
