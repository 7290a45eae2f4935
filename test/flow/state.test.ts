// The state comes back byte for byte (spec section 5.4), whatever it is and however it was encoded.
import fc from 'fast-check'
import { request } from 'node:http'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { seed } from '../helpers/seed.ts'

/** The bytes that a form-encoded value stands for. */
function bytes (encoded: string): Buffer {
  const character = (_: string, hex: string) => String.fromCharCode(parseInt(hex, 16))
  const text = encoded.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, character)
  return Buffer.from(text, 'latin1')
}

t.test('state', async (t) => {
  t.comment(`SEED=${seed}`)
  const { app } = await startHost(t)
  const { port } = app.server.address() as { port: number }
  const common = new URLSearchParams({
    client_id: PORTAL.clientId,
    redirect_uri: PORTAL.redirectUri,
    response_type: 'code'
  })
  const echo = async (encoded: string): Promise<string> => await new Promise((resolve, reject) => request(
    { port, path: `/oauth/authorize?${common}&state=${encoded}`, headers: { 'x-user': 'alice' } },
    (response) => {
      response.resume()
      resolve(/[?&]state=([^&]*)$/.exec(response.headers.location as string)?.[1] as string)
    }
  ).on('error', reject).end())

  const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    .filter((character) => character !== '&')
  const escape = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  const encoded = fc.array(fc.oneof(printable, escape), { minLength: 1, maxLength: 80 }).map((parts) => parts.join(''))

  await t.test('in its own encoding', async (t) => {
    let states = 0
    await fc.assert(fc.asyncProperty(encoded, async (state) => {
      states++
      const echoed = await echo(state)
      // Encoded as it was, but for what would end the query it is put into.
      const expected = state.replace(/["#<>]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
      if (echoed !== expected) throw new Error(`${state} came back as ${echoed}`)
      if (!bytes(echoed).equals(bytes(state))) throw new Error(`${state} came back as other bytes`)
    }), { numRuns: 2000, seed })
    t.equal(states, 2000)
  })

  await t.test('as any text, read by a URL parser', async (t) => {
    let texts = 0
    await fc.assert(fc.asyncProperty(fc.string({ minLength: 1, unit: 'grapheme' }), async (text) => {
      texts++
      const echoed = new URLSearchParams(`state=${await echo(encodeURIComponent(text))}`).get('state')
      if (echoed !== text) throw new Error(`${JSON.stringify(text)} came back as ${JSON.stringify(echoed)}`)
    }), { numRuns: 1000, seed })
    t.equal(texts, 1000)
  })
})
