// The state comes back byte for byte (RFC 6749 section 4.1.2), whatever it is and however it was encoded.
import fc from 'fast-check'
import t from 'tap'
import { authorizePath, request, say } from '../helpers/raw-requests.ts'
import { startHost } from '../helpers/host.ts'
import { seed } from '../helpers/seed.ts'

t.test('state', async (t) => {
  t.comment(`SEED=${seed}`)
  const { url } = await startHost(t)
  const echo = async (encoded: string): Promise<string | undefined> => {
    const { text } = await say(url, request(`GET ${authorizePath(encoded)}`, ['X-User: alice']))
    return /^location: .*?[?&]state=(.*)\r$/im.exec(text)?.[1]
  }

  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    .filter((character) => character !== '&')
  const escape = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  const encoded = fc.array(fc.oneof(visible, escape), { minLength: 1, maxLength: 80 }).map((parts) => parts.join(''))

  await fc.assert(fc.asyncProperty(encoded, async (state) => {
    const echoed = await echo(state)
    // Encoded as it was, but for what would end the query it is put into.
    const expected = state.replace(/["#<>]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    if (echoed !== expected) throw new Error(`${state} came back as ${echoed}`)
  }), { numRuns: 500, seed })
  t.pass('each came back as it was')
})
