// `portal` as a function: portals are found with every request, so one can be added, changed or
// turned off between the steps of a sign-in. A function that fails, or that takes too long, is no unknown client.
import t, { type Test } from 'tap'
import { type Portal } from '../../lib/index.ts'
import { isRefused, keepsContract } from '../helpers/contract.ts'
import { type Host, PORTAL, startHost } from '../helpers/host.ts'
import { capture } from '../attacks/helpers/log.ts'
import { type Wire, wire } from '../helpers/wire.ts'

const LIVE = {
  ...PORTAL,
  clientId: 'live',
  clientSecret: 'another secret',
  redirectUri: 'https://live.example/callback',
  loginUrl: 'https://live.example/external-oauth/1'
}

type Row = Portal | Error | 'silent'

interface Scene extends Host {
  /** The table that the function reads: a row may be a portal, a failure, or no answer. */
  rows: Map<string, Row>
  /** What the function was asked for. */
  asked: string[]
  portal: Wire
  logged: () => string
}

/** An app that finds its portals by a function. */
async function start (t: Test, options = {}): Promise<Scene> {
  const rows = new Map<string, Row>([[PORTAL.clientId, PORTAL], [LIVE.clientId, LIVE]])
  const asked: string[] = []
  const find = async (clientId: string): Promise<Portal | undefined> => {
    asked.push(clientId)
    const row = rows.get(clientId)
    if (row === 'silent') return await new Promise<never>(() => {})
    if (row instanceof Error) throw row
    return row
  }
  const log = capture()
  const host = await startHost(t, { portal: find, ...options }, { server: { logger: log.logger } })
  return { ...host, rows, asked, portal: wire(host.url), logged: () => log.text() }
}

const UNKNOWN_TOKEN = 'The access token is unknown, used or expired.'
const UNKNOWN_CODE = 'The code is unknown, used or expired.'

t.test('the contract holds for each portal that is found', async (t) => {
  const { url, portal } = await start(t)
  await keepsContract(t, portal)
  const live = wire(url, LIVE)
  isRefused(t, await portal.token({ code: await live.code() }), 400, 'invalid_grant', UNKNOWN_CODE)
  t.equal((await live.user(await live.accessToken())).status, 200)
})

t.test('a portal that is added, and turned off, while the app runs', async (t) => {
  const { url, rows, events, portal } = await start(t)
  rows.delete(LIVE.clientId)
  const live = wire(url, LIVE)
  isRefused(t, await live.authorize(), 400, 'invalid_request', 'The client_id is not registered.')
  rows.set(LIVE.clientId, LIVE)
  const [code, token] = [await live.code(), await live.accessToken()]

  rows.delete(LIVE.clientId)
  isRefused(t, await live.authorize(), 400, 'invalid_request', 'The client_id is not registered.')
  isRefused(t, await live.token({ code }), 401, 'invalid_client', 'Client authentication failed.')
  t.match(events.at(-1), { reason: 'client_unknown' })
  isRefused(t, await live.user(token), 401, 'invalid_token', UNKNOWN_TOKEN)
  t.match(events.at(-1), { reason: 'token_unknown' })
  t.equal((await portal.user(await portal.accessToken())).status, 200, 'the other goes on')

  rows.set(LIVE.clientId, LIVE)
  t.equal((await live.token({ code })).status, 200, 'who did not authenticate used nothing up')
})

t.test('a secret that is rotated between authorize and token', async (t) => {
  const { rows, portal } = await start(t)
  const [code, another] = [await portal.code(), await portal.code()]
  rows.set(PORTAL.clientId, { ...PORTAL, clientSecret: [PORTAL.clientSecret, 'the new one'] })
  t.equal((await portal.token({ code, client_secret: 'the new one' })).status, 200)
  rows.set(PORTAL.clientId, { ...PORTAL, clientSecret: 'the new one' })
  isRefused(t, await portal.token({ code: another }), 401, 'invalid_client', 'Client authentication failed.')
  t.equal((await portal.token({ code: another, client_secret: 'the new one' })).status, 200)
})

t.test('another value of the portal, changed between authorize and token, makes the code unknown', async (t) => {
  const { rows, portal } = await start(t)
  const changes: Array<Partial<Portal>> = [
    { redirectUri: 'https://portal.example/new' }, { loginUrl: 'https://portal.example/new' }, { level: 'client' }
  ]
  for (const change of changes) {
    rows.set(PORTAL.clientId, PORTAL)
    const code = await portal.code()
    const changed = { ...PORTAL, ...change }
    rows.set(PORTAL.clientId, changed)
    const answer = await portal.token({ code, redirect_uri: changed.redirectUri })
    isRefused(t, answer, 400, 'invalid_grant', UNKNOWN_CODE)
  }
})

t.test('a throw, a bad portal, and no answer in time, at each endpoint', async (t) => {
  const { rows, portal, events, logged } = await start(t, { storeTimeout: 200 })
  const failed = [500, 'server_error', 'The request could not be completed.', 'portal_failed'] as const
  const late = [503, 'temporarily_unavailable', 'The service is temporarily unavailable.', 'portal_timeout'] as const
  const cases: Array<[Row, typeof failed | typeof late, string]> = [
    [new Error('The vault is sealed'), failed, 'The vault is sealed'],
    [{ ...PORTAL, clientSecret: 'hush\n' }, failed, 'got a string that has a line break'],
    [{ ...PORTAL, clientId: 'live' }, failed, 'got another one'],
    [{ ...PORTAL, loginUrl: 'https://u:hush@portal.example/' }, failed, 'got a URL that has some'],
    ['silent', late, 'portal_timeout']
  ]
  for (const [row, [status, error, description, reason], line] of cases) {
    rows.set(PORTAL.clientId, PORTAL)
    const [code, token] = [await portal.code(), await portal.accessToken()]
    rows.set(PORTAL.clientId, row)
    for (const send of [() => portal.authorize(), () => portal.token({ code }), () => portal.user(token)]) {
      const answer = await send()
      isRefused(t, answer, status, error, description)
      t.equal(answer.headers.get('location'), null)
      t.equal(answer.headers.has('retry-after'), status === 503)
      t.match(events.at(-1), { type: 'request_rejected', reason })
      const last = logged().trimEnd().split('\n').filter((line) => line.includes(`"reason":"${reason}"`)).at(-1) ?? ''
      t.match(JSON.parse(last), { level: 50 })
      t.ok(last.includes(line), line)
    }
    const page = await portal.authorize({}, 'alice', { accept: 'text/html' })
    t.equal(page.status, status)
    t.match(page.headers.get('content-type'), 'text/html')
    t.notMatch(page.text, /href/, 'no link where the portal is not known')
    rows.set(PORTAL.clientId, PORTAL)
    t.equal((await portal.token({ code })).status, 200, 'the code was not touched')
  }
  t.notMatch(logged(), 'hush')
})

t.test('the error page links to the portal that is known, and to none where it is not', async (t) => {
  const { portal, url } = await start(t)
  const html = { accept: 'text/html' }
  const known = await wire(url, LIVE).authorize({ redirect_uri: 'https://evil.example' }, null, html)
  t.match(known.text, `href="${LIVE.loginUrl}"`)
  t.notMatch(known.text, PORTAL.loginUrl)
  t.notMatch((await portal.authorize({ client_id: 'someone' }, null, html)).text, /href/)
})

t.test('a client_id that no portal can have never reaches the function', async (t) => {
  const { portal, asked } = await start(t)
  for (const hostile of ['a'.repeat(256), 'é', 'a\nb', 'a\0b', '\x7f', '']) {
    t.equal((await portal.authorize({ client_id: hostile })).status, 400)
    t.equal([400, 401].includes((await portal.token({ code: 'x', client_id: hostile })).status), true)
    const credentials = Buffer.from(`${encodeURIComponent(hostile)}:secret`).toString('base64')
    const basic = { authorization: `Basic ${credentials}` }
    const answer = await portal.token({ code: 'x', client_id: undefined, client_secret: undefined }, basic)
    isRefused(t, answer, 401, 'invalid_client', 'Client authentication failed.')
  }
  t.strictSame(asked, [])
})

t.test('an unknown client and a wrong secret get the same answer, with a function as with a list', async (t) => {
  const { portal } = await start(t)
  const { url } = await startHost(t)
  const listed = wire(url)
  const answers = []
  for (const changes of [{ client_id: 'someone' }, { client_secret: 'wrong' }]) {
    for (const at of [portal, listed]) {
      const { status, text, headers } = await at.token({ code: await at.code(), ...changes })
      const names = [...headers.keys()].sort()
      answers.push({ status, text, names, authenticate: headers.get('www-authenticate') })
    }
  }
  for (const answer of answers) t.strictSame(answer, answers[0])
})
