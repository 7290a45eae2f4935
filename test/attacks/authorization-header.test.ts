// Someone writes the Authorization header as no client would: twice, in another scheme, with odd base64, with a colon
// too few or too many, in bytes that some server may fold into others. Only what the RFCs describe lets anyone in, and
// a code or token that came in a malformed header is not used up.
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { request, say, tokenRequest } from './helpers/raw.ts'
import { CODE, LOCATOR, TOKEN } from './helpers/settings.ts'

const form = new URLSearchParams({ redirect_uri: PORTAL.redirectUri, grant_type: 'authorization_code' }).toString()
const id = PORTAL.clientId
const secret = encodeURIComponent(PORTAL.clientSecret)
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

await t.test('HTTP Basic at the token endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const attempt = async (headers: string[], status: number, reason: string) => {
    const { statuses, text } = await say(url, tokenRequest(`${form}&code=${code}`, headers))
    t.strictSame(statuses, [status], headers.join(', ').slice(0, 80))
    t.equal(events.at(-1)?.reason, reason)
    t.equal(/^www-authenticate: Basic realm="partner-sso"\r$/im.test(text), status === 401)
  }
  const good = `Authorization: Basic ${base64(`${id}:${secret}`)}`
  const wrong = `Authorization: Basic ${base64(`${id}:wrong`)}`

  for (const [encoded, reason] of [
    ['', 'authentication_malformed'],
    ['=', 'authentication_malformed'],
    ['====', 'authentication_malformed'],
    [base64(id), 'authentication_malformed'],
    [base64(':'), 'client_unknown'],
    [base64(`:${secret}`), 'client_unknown'],
    [base64(`${id}:`), 'client_secret_wrong'],
    [
      base64(`${id}`) + base64(`:${secret}`),
      base64(id).endsWith('=') ? 'authentication_malformed' : 'client_secret_wrong'
    ],
    [`${base64(`${id}:${secret}`)}===`, 'authentication_malformed'],
    [`${base64(`${id}:${secret}`).slice(0, 8)} ${base64(`${id}:${secret}`).slice(8)}`, 'authentication_malformed'],
    [`"${base64(`${id}:${secret}`)}"`, 'authentication_malformed'],
    [`${base64(`${id}:${secret}`)},${base64(`${id}:${secret}`)}`, 'authentication_malformed'],
    [Buffer.from(`${id}:${secret}~~~???`).toString('base64url'), 'authentication_malformed'],
    [base64(`${id}:${secret}\0`), 'client_secret_wrong'],
    [base64(`${id}\0:${secret}`), 'client_unknown'],
    [base64(`${id}:${secret}\n`), 'client_secret_wrong'],
    [base64(` ${id}:${secret}`), 'client_unknown'],
    [base64(`${id}::${secret}`), 'client_secret_wrong'],
    [base64(`${id}:${secret}:`), 'client_secret_wrong'],
    [base64(`${id}:${encodeURIComponent(secret)}`), 'client_secret_wrong'],
    [base64(`${id}:%zz`), 'authentication_malformed'],
    [base64(`%zz:${secret}`), 'authentication_malformed'],
    [base64(Buffer.from(`${id}:${secret}`, 'utf16le')), 'authentication_malformed'],
    [base64(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`${id}:${secret}`)])), 'client_unknown'],
    [base64(Buffer.concat([Buffer.from(`${id}:`), Buffer.from([0xff, 0xfe])])), 'client_secret_wrong'],
    [base64(`${id.toUpperCase()}:${secret}`), 'client_unknown'],
    [base64(`ｐartner-123:${secret}`), 'client_unknown'],
    [base64(`${id}:${secret.slice(0, -1)}`), 'client_secret_wrong'],
    [base64(`${id}:${secret}x`), 'client_secret_wrong'],
    [base64(`constructor:${secret}`), 'client_unknown'],
    [base64('a'.repeat(5000)), 'authentication_malformed'],
    [base64(`a:${'%00'.repeat(3000)}`), 'client_unknown']
  ] as const) { await attempt([`Authorization: Basic ${encoded}`], 401, reason) }

  await attempt([good, wrong], 400, 'authentication_repeated')
  await attempt([wrong, good], 400, 'authentication_repeated')
  await attempt([good, good], 400, 'authentication_repeated')
  await attempt(['AUTHORIZATION: Basic x', good], 400, 'authentication_repeated')
  await attempt([good, 'X-Padding: 1', 'Authorization:'], 400, 'authentication_repeated')
  for (const other of [
    'Bearer abc',
    'Digest username="partner-123"',
    'Negotiate abc',
    'Basic\tabc',
    'Basi abc',
    'BasicX abc',
    ' ',
    base64(`${id}:${secret}`),
    'null'
  ]) { await attempt([`Authorization: ${other}`], 400, 'client_id_missing') }
  for (const name of [
    'Proxy-Authorization',
    'X-Authorization',
    'Authorization2',
    'WWW-Authenticate',
    'Authentication'
  ]) { await attempt([`${name}: Basic ${base64(`${id}:${secret}`)}`], 400, 'client_id_missing') }
  events.length = 0
  t.strictSame(
    (await say(url, tokenRequest('', [`Authorization : Basic ${base64(`${id}:${secret}`)}`]))).statuses,
    [400]
  )
  t.strictSame(events, [], 'a space before the colon is Node\'s to refuse')

  for (const scheme of ['bAsIc', 'Basic  ', 'BASIC']) {
    const { json } = await portal.token(
      { client_id: undefined, client_secret: undefined, code: await portal.code() },
      { authorization: `${scheme} ${base64(`${id}:${secret}`)}` }
    )
    t.equal(json.token_type, 'Bearer', scheme)
  }
  t.equal((await portal.token({ code })).status, 200, 'none of them used up the code')
})

await t.test('Bearer at the user endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const token = await portal.accessToken()
  const other = await portal.accessToken()
  const attempt = async (headers: string[], status: number, reason: string) => {
    const { statuses, text } = await say(url, request('GET /oauth/user', headers))
    t.strictSame(statuses, [status], headers.join(', ').slice(0, 80))
    t.equal(events.at(-1)?.reason, reason)
    const challenge = /^www-authenticate: Bearer realm="partner-sso"(.*)\r$/im.exec(text)?.[1]
    const error = /^, error="invalid_(?:request|token)", error_description="[^"\\]+"$/
    t.match(challenge, reason === 'credentials_missing' ? /^$/ : error)
  }
  for (const value of [
    'Bearer',
    'Bearer ',
    `Bearer ${token} ${token}`,
    `Bearer ${token},${token}`,
    `Bearer ${token}, Bearer ${other}`,
    `Bearer "${token}"`,
    `Bearer <${token}>`,
    `Bearer ${token};`,
    `Bearer ${token}%20`,
    `Bearer =${token}`,
    `Bearer ${token}\u00e9`,
    `Bearer \u00a0${token}`,
    `Bearer access_token=${token}`,
    'Bearer @',
    `Bearer \t${token}`,
    `Bearer ${token}\tx`,
    'Bearer é'
  ]) { await attempt([`Authorization: ${value}`], 400, 'authorization_malformed') }
  for (const value of [
    token,
    `Token ${token}`,
    `Basic ${token}`,
    `Bearer=${token}`,
    `Bearer:${token}`,
    `Bearer\t${token}`,
    `BearerX ${token}`,
    `MAC ${token}`,
    `DPoP ${token}`,
    `Basic ${base64(`Bearer:${token}`)}`,
    '',
    'null',
    `, Bearer ${token}`
  ]) { await attempt([`Authorization: ${value}`], 401, 'credentials_missing') }
  for (const value of [
    `${token}=`,
    `${token}==`,
    token.slice(1),
    token.slice(0, -1),
    `${token}A`,
    `${token}AA`,
    token.toLowerCase(),
    token.toUpperCase(),
    [...token].reverse().join(''),
    token.slice(LOCATOR) + token.slice(0, LOCATOR),
    token.slice(0, LOCATOR),
    token.slice(LOCATOR),
    token.slice(0, CODE),
    `${token}.${token}.`,
    'a',
    '0',
    'A'.repeat(TOKEN),
    'A'.repeat(8000),
    '/'.repeat(TOKEN),
    '+'.repeat(TOKEN),
    '.'.repeat(TOKEN)
  ]) {
    await attempt([`Authorization: Bearer ${value}`], 401, 'token_unknown')
  }
  await attempt([`Authorization: Bearer ${token}`, `Authorization: Bearer ${other}`], 400, 'authorization_malformed')
  await attempt([`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`], 400, 'authorization_malformed')
  await attempt(['Authorization: Basic abc', `Authorization: Bearer ${token}`], 400, 'authorization_malformed')

  t.strictSame(
    (await portal.user(token, { authorization: `bEaReR   ${token}` })).json,
    recordOf('alice'),
    'the scheme is read in any case (RFC 9110 section 11.1)'
  )
  t.equal((await portal.user(other)).status, 200, 'nothing was used up')
})

await t.test('a host that joins repeated headers changes nothing', async (t) => {
  const { url } = await startHost(t, {}, { server: { http: { joinDuplicateHeaders: true } } as FastifyServerOptions })
  const portal = wire(url)
  const token = await portal.accessToken()
  const twice = await say(
    url,
    request('GET /oauth/user', [`Authorization: Bearer ${token}`, 'Authorization: Bearer x'])
  )
  t.strictSame(twice.statuses, [400])
  t.equal((await portal.user(token)).status, 200)
})
