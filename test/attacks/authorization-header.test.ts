// Someone writes the Authorization header as no client would: twice, in another scheme, with odd base64, with a colon
// too few or too many. Only what the RFCs describe lets anyone in, and a code or token that came in a malformed header
// is not used up.
import t from 'tap'
import { BASIC, request, say, tokenForm, wire } from '../wire.ts'
import { PORTAL, startApp } from '../app.ts'

const FORM = 'Content-Type: application/x-www-form-urlencoded'

const id = PORTAL.clientId
const secret = encodeURIComponent(PORTAL.clientSecret)
const base64 = (text: string) => Buffer.from(text).toString('base64')
const pair = base64(`${id}:${secret}`)

const badCredentials: Record<string, string[]> = {
  authentication_malformed: [
    '',
    '====',
    `${pair}===`,
    `${pair},${pair}`,
    Buffer.from(`${id}:${secret}~~~???`).toString('base64url')
  ],
  client_unknown: [
    `:${secret}`,
    `${id}\0:${secret}`,
    ` ${id}:${secret}`
  ].map(base64),
  client_secret_wrong: [
    `${id}:`,
    `${id}:${secret}:`,
    `${id}:${encodeURIComponent(secret)}`,
    `${id}:%zz`
  ].map(base64)
}
/** Neither a value nor a name of the same length is taken for the name Authorization. */
const beside = ['X-Note: authorization', 'X-Thirteen-It: x']

t.test('HTTP Basic at the token endpoint', async (t) => {
  const { url, events } = await startApp(t)
  const code = await wire(url).code()
  const attempt = async (status: number, reason: string, ...headers: string[]) => {
    const form = String(tokenForm(code, false))
    const { statuses } = await say(url, request('POST /oauth/token', [FORM, ...headers], form))
    t.strictSame([...statuses, events.at(-1)?.reason], [status, reason], headers.join().slice(0, 80))
  }
  for (const [reason, credentials] of Object.entries(badCredentials)) {
    for (const encoded of credentials) await attempt(401, reason, `Authorization: Basic ${encoded}`)
  }
  const good = `Authorization: ${BASIC}`
  for (const second of [`AUTHORIZATION: ${BASIC}`, 'Authorization: Bearer x', 'Authorization:']) {
    await attempt(400, 'authentication_repeated', good, 'X-Padding: 1', second)
    await attempt(400, 'authentication_repeated', second, good)
  }
  for (const other of ['Authorization: Basic\tabc', 'Authorization: BasicX abc', `Proxy-Authorization: ${BASIC}`]) {
    await attempt(401, 'authentication_missing', other)
  }
  await attempt(200, 'ok', ...beside, `Authorization: ${BASIC.replace('Basic', 'bASIC  ')}`)
})

t.test('Bearer at the user endpoint, also where the host joins repeated headers', async (t) => {
  const { url, events } = await startApp(t, { server: { http: { joinDuplicateHeaders: true } } as object })
  const portal = wire(url)
  const token = await portal.accessToken()
  const other = await portal.accessToken()
  const [locator, proof, rest] = [token.slice(0, 43), token.slice(43, 86), token.slice(86)]
  const spareBitsOf = (text: string) => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1)
  const refused: Record<string, string[]> = {
    authorization_malformed: [
      'Bearer',
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${other}`,
      `Bearer =${token}`,
      `Bearer ${token}\u00e9`
    ],
    credentials_missing: [
      token,
      `Bearer:${token}`,
      `BearerX ${token}`,
      ''
    ],
    token_unknown: [
      `${token}=`,
      `${token}A`,
      token.slice(1),
      locator + proof,
      locator + locator + rest,
      locator + proof + base64('x'),
      spareBitsOf(locator) + proof + rest,
      locator + spareBitsOf(proof) + rest,
      spareBitsOf(token),
      'A'.repeat(8000)
    ].map((value) => `Bearer ${value}`)
  }
  const statuses: Record<string, number> = { authorization_malformed: 400 }
  const attempt = async (reason: string, ...headers: string[]) => {
    const sent = await say(url, request('GET /oauth/user', headers))
    const expected = [statuses[reason] ?? 401, reason]
    t.strictSame([...sent.statuses, events.at(-1)?.reason], expected, headers.join().slice(0, 80))
  }
  for (const [reason, values] of Object.entries(refused)) {
    for (const value of values) await attempt(reason, `Authorization: ${value}`)
  }
  const good = `Authorization: Bearer ${token}`
  for (const second of [good.toLowerCase(), `Authorization: Bearer ${other}`, 'AUTHORIZATION: Basic abc']) {
    await attempt('authorization_malformed', good, second)
    await attempt('authorization_malformed', second, good)
  }
  await attempt('credentials_missing', `Cookie: access_token=${token}`)
  const usable = request('GET /oauth/user', [...beside, `Authorization: bEARER  ${token}`])
  t.strictSame((await say(url, usable)).statuses, [200], 'nothing was used up')
  t.equal((await portal.user(other)).status, 200)
})
