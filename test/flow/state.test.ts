// The state comes back unchanged (RFC 6749 section 4.1.2), whatever it is, and encoded as it was but for `"#<>`.
import t from 'tap'
import { sessionOf, startApp } from '../app.ts'
import { authorizePath, request, say } from '../wire.ts'

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_none, at) => from + at)

const percent = (byte: number): string => `%${byte.toString(16).padStart(2, '0')}`

t.test('each visible character as it is, and each byte in percent', async (t) => {
  const { url } = await startApp(t)
  const visible = String.fromCharCode(...numbers(0x21, 0x7f)).replace('&', '')
  const escapes = numbers(0, 256).map(percent)
  for (const state of [visible, escapes.join(''), escapes.join('').toUpperCase(), 'a=b=%zz+%']) {
    const { text } = await say(url, request(`GET ${authorizePath(state)}`, [`Cookie: ${sessionOf('ada')}`]))
    // Encoded as it was, but for what would end the query it is put into.
    const expected = state.replace(/["#<>]/g, (one) => percent(one.charCodeAt(0)).toUpperCase())
    t.equal(/^location: .*?[?&]state=(.*)\r$/im.exec(text)?.[1], expected, state)
  }
})
