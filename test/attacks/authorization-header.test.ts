// Someone writes the Authorization header as no client would: twice, in another scheme, with odd base64, with a colon
// too few or too many, in bytes that some server may fold into others. Only what the RFCs describe lets anyone in, and
// a code or token that came in a malformed header is not used up.
import type { FastifyServerOptions } from 'fastify'
import { connect } from 'node:net'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import { BASIC, request, say, tokenForm, tokenRequest } from '../helpers/raw-requests.ts'

const id = PORTAL.clientId
const secret = encodeURIComponent(PORTAL.clientSecret)
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const pair = base64(`${id}:${secret}`)

const badCredentials: Record<string, string[]> = {
  authentication_malformed: [
    '', '=', '====', base64(id), `${pair}===`, `${pair.slice(0, 8)} ${pair.slice(8)}`, `"${pair}"`, `${pair},${pair}`,
    Buffer.from(`${id}:${secret}~~~???`).toString('base64url'),
    base64(Buffer.from(`${id}:${secret}`, 'utf16le').subarray(0, 8)), base64('a'.repeat(5000))
  ],
  client_unknown: [
    ':', `:${secret}`, `${id}\0:${secret}`, ` ${id}:${secret}`, `\ufeff${id}:${secret}`,
    `${id.toUpperCase()}:${secret}`, `ｐartner-123:${secret}`, `constructor:${secret}`, `a:${'%00'.repeat(3000)}`,
    `%zz:${secret}`
  ].map(base64),
  client_secret_wrong: [
    `${id}:`, `${id}:${secret}\0`, `${id}:${secret}\n`, `${id}::${secret}`, `${id}:${secret}:`, `${id}:${secret}x`,
    `${id}:${encodeURIComponent(secret)}`, Buffer.from([...Buffer.from(`${id}:`), 0xff, 0xfe]),
    `${id}:${secret.slice(0, -1)}`, `${id}:%zz`
  ].map(base64)
}
const otherSchemes = ['Bearer abc', 'Digest username="partner-123"', 'Basic\tabc', 'BasicX abc', ' ', pair]
/** Neither a value nor a name of the same length is taken for the name Authorization. */
const beside = ['X-Note: authorization', 'X-Thirteen-It: x']
const otherNames = ['Proxy-Authorization', 'X-Authorization', 'Authorization2', 'WWW-Authenticate', 'X-Access-Token']

t.test('HTTP Basic at the token endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const attempt = async (status: number, reason: string, ...headers: string[]) => {
    const { statuses, text } = await say(url, tokenRequest(`${tokenForm(code, false)}`, headers))
    const shown = headers.join().slice(0, 80)
    t.strictSame([...statuses, events.at(-1)?.reason], [status, reason], shown)
    t.equal(/^www-authenticate: Basic realm="partner-sso"\r$/im.test(text), status === 401, shown)
  }
  for (const [reason, credentials] of Object.entries(badCredentials)) {
    for (const encoded of credentials) await attempt(401, reason, `Authorization: Basic ${encoded}`)
  }
  const good = `Authorization: ${BASIC}`
  for (const second of [good, `AUTHORIZATION: Basic ${base64(`${id}:wrong`)}`, 'Authorization: Bearer x']) {
    await attempt(400, 'authentication_repeated', good, second)
    await attempt(400, 'authentication_repeated', second, good)
  }
  await attempt(400, 'authentication_repeated', good, 'X-Padding: 1', 'Authorization:')
  for (const value of otherSchemes) await attempt(401, 'authentication_missing', `Authorization: ${value}`)
  for (const name of otherNames) await attempt(401, 'authentication_missing', `${name}: ${BASIC}`)
  await attempt(200, 'ok', ...beside, `Authorization: ${BASIC.replace('Basic', 'bASIC  ')}`)
})

t.test('Bearer at the user endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const token = await portal.accessToken()
  const other = await portal.accessToken()
  const [locator, proof, rest] = [token.slice(0, 43), token.slice(43, 86), token.slice(86)]
  const refused: Record<string, string[]> = {
    authorization_malformed: [
      'Bearer', 'Bearer ', `Bearer ${token} ${token}`, `Bearer ${token},${token}`, `Bearer ${token}, Bearer ${other}`,
      `Bearer "${token}"`, `Bearer <${token}>`, `Bearer ${token};`, `Bearer ${token}%20`, `Bearer =${token}`,
      `Bearer ${token}\u00e9`, `Bearer \u00a0${token}`, `Bearer access_token=${token}`, `Bearer \t${token}`
    ],
    credentials_missing: [
      token, `Token ${token}`, `Basic ${token}`, `Bearer=${token}`, `Bearer:${token}`, `Bearer\t${token}`,
      `BearerX ${token}`, `DPoP ${token}`, `Basic ${base64(`Bearer:${token}`)}`, '', `, Bearer ${token}`
    ],
    token_unknown: [
      `${token}=`, token.slice(1), `${token}A`, token.toLowerCase(), proof + locator + rest, locator, proof, 'a',
      locator + proof, locator + rest, `${locator}${proof}${base64('x')}`,
      'A'.repeat(token.length), 'A'.repeat(8000), '/'.repeat(token.length)
    ].map((value) => `Bearer ${value}`)
  }
  const statuses: Record<string, number> = { authorization_malformed: 400 }
  const attempt = async (reason: string, ...headers: string[]) => {
    const sent = await say(url, request('GET /oauth/user', headers))
    const shown = headers.join().slice(0, 80)
    t.strictSame([...sent.statuses, events.at(-1)?.reason], [statuses[reason] ?? 401, reason], shown)
    const challenge = /^www-authenticate: Bearer realm="partner-sso"(.*)\r$/im.exec(sent.text)?.[1]
    const error = /^, error="invalid_(?:request|token)", error_description="[^"\\]+"$/
    t.match(challenge, reason === 'credentials_missing' ? /^$/ : error, shown)
  }
  for (const [reason, values] of Object.entries(refused)) {
    for (const value of values) await attempt(reason, `Authorization: ${value}`)
  }
  const good = `Authorization: Bearer ${token}`
  for (const second of [good.toLowerCase(), `Authorization: Bearer ${other}`, 'AUTHORIZATION: Basic abc']) {
    await attempt('authorization_malformed', good, second)
    await attempt('authorization_malformed', second, good)
  }
  for (const name of otherNames) await attempt('credentials_missing', `${name}: Bearer ${token}`)
  await attempt('credentials_missing', `Cookie: access_token=${token}`)
  const usable = request('GET /oauth/user', [...beside, `Authorization: bEARER  ${token}`])
  t.strictSame((await say(url, usable)).statuses, [200], 'nothing was used up')
  t.equal((await portal.user(other)).status, 200)
})

t.test('a host that joins repeated headers changes nothing', async (t) => {
  const { url } = await startHost(t, {}, { server: { http: { joinDuplicateHeaders: true } } as FastifyServerOptions })
  const portal = wire(url)
  const token = await portal.accessToken()
  const both = [`Authorization: Bearer ${token}`, 'Authorization: Bearer x']
  t.strictSame((await say(url, request('GET /oauth/user', both))).statuses, [400])
  t.equal((await portal.user(token)).status, 200)
})

/** A literal header field without indexing, nothing of it compressed (RFC 7541 section 6.2.2). */
const field = (parts: string[]): Buffer =>
  Buffer.concat([Buffer.from([0]), ...parts.map((text) => Buffer.from(`${String.fromCharCode(text.length)}${text}`))])

/** GET /oauth/user in frames of HTTP/2 (RFC 9113), as no client library sends them. The response up to a brace. */
async function userOverHttp2 (url: string, authorizations: string[]): Promise<string> {
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
  // The last frame of stream 1, with all headers.
  const headersFrame = Buffer.from([0, 0, 0, 1, 5, 0, 0, 0, 1])
  const fields = Buffer.concat([
    [':method', 'GET'], [':path', '/oauth/user'], [':scheme', 'http'], [':authority', 'partner.example'],
    ...authorizations.map((value) => ['authorization', value])
  ].map(field))
  headersFrame.writeUIntBE(fields.length, 0, 3)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings, headersFrame, fields]))
  let received = ''
  for await (const chunk of socket) {
    received += String(chunk)
    if (received.includes('}')) break
  }
  return received
}

t.test('two headers over HTTP/2', async (t) => {
  const { app, url } = await startHost(t, {}, { server: { http2: true } as FastifyServerOptions })
  const good = `Bearer ${await wire('', undefined, { fetch: injecting(app) }).accessToken()}`
  for (const second of [good, 'Bearer x', 'Basic eDp4', '']) {
    for (const both of [[good, second], [second, good]]) {
      t.match(await userOverHttp2(url, both), '"error_description":"The Authorization header is malformed."', second)
    }
  }
  t.match(await userOverHttp2(url, [good]), '"external_id":"alice"', 'the token is still good')
})
