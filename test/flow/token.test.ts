// POST /oauth/token, check by check, in their order. Before the client has authenticated the code is not touched.
import t from 'tap'
import { createHash } from 'node:crypto'
import { passTime } from '../helpers/clock.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { type Answer, wire } from '../helpers/wire.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const basic = (id: string, secret: string) => {
  const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}
const PORTAL_BASIC = basic(PORTAL.clientId, PORTAL.clientSecret)
const inForm = {
  client_id: PORTAL.clientId,
  client_secret: PORTAL.clientSecret,
  redirect_uri: PORTAL.redirectUri,
  grant_type: 'authorization_code'
}
const noCredentials = { client_id: undefined, client_secret: undefined }

t.test('a malformed request is invalid_request, and leaves the code good', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const post = async (body: string | null, headers: Record<string, string>, query = '') => {
    const response = await fetch(`${url}/oauth/token${query}`, { method: 'POST', body, headers })
    return { status: response.status, body: await response.json() as Record<string, string>, headers: response.headers }
  }
  const good = new URLSearchParams({ ...inForm, code }).toString()
  const cases: [string | null, Record<string, string>, string, string?][] = [
    [good, { 'content-type': 'text/plain' }, 'content_type_unsupported'],
    [JSON.stringify({ ...inForm, code }), { 'content-type': 'application/json' }, 'content_type_unsupported'],
    [null, {}, 'content_type_unsupported'],
    [`${good}&x=%zz`, form, 'body_unreadable'],
    [`${good}&x=${'y'.repeat(2 ** 20)}`, form, 'body_unreadable'],
    [`${good}${'&x=y'.repeat(1000)}`, form, 'parameters_excessive'],
    [good, form, 'credentials_in_url', `?client_id=${PORTAL.clientId}`],
    [good, form, 'credentials_in_url', '?client_secret=x'],
    [`${good}&code=${code}`, form, 'parameter_repeated'],
    [`${good}&scope=&scope=`, form, 'parameter_repeated']
  ]
  for (const [body, headers, reason, query] of cases) {
    const answer = await post(body, headers, query)
    t.equal(answer.status, 400, reason)
    t.equal(answer.body.error, 'invalid_request', reason)
    t.match(answer.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    t.match(events.pop(), { type: 'request_rejected', reason })
  }
  for (const name of ['client_id', 'client_secret', 'redirect_uri', 'grant_type', 'code']) {
    for (const value of [undefined, '']) {
      const answer = await portal.token({ code, [name]: value })
      t.equal(answer.status, 400)
      t.strictSame([answer.json.error, events.pop()?.reason], ['invalid_request', `${name}_missing`])
    }
  }
  t.equal((await portal.token({ code })).status, 200, 'the code is still good')
})

t.test('another grant_type', async (t) => {
  const { url, events } = await startHost(t)
  const code = await wire(url).code()
  for (const grantType of ['password', 'refresh_token', 'Authorization_Code']) {
    const answer = await wire(url).token({ code, grant_type: grantType })
    t.strictSame([answer.status, answer.json.error], [400, 'unsupported_grant_type'])
    t.match(events.pop(), { reason: 'grant_type_unsupported' })
  }
  t.equal((await wire(url).token({ code })).status, 200)
})

t.test('client authentication that fails looks the same whatever was wrong, and leaves the code good', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const answers: [Answer, string][] = []
  const fail = async (reason: string, changes: Record<string, string | undefined>, headers = {}) => {
    const answer = await portal.token({ code, ...changes }, headers)
    answers.push([answer, reason])
    t.match(events.pop(), { type: 'client_authentication_failed', reason })
  }
  await fail('client_unknown', { client_id: 'another' })
  await fail('client_unknown', { client_id: 'constructor' })
  await fail('client_secret_wrong', { client_secret: 'wrong' })
  await fail('client_secret_wrong', { client_secret: `${PORTAL.clientSecret} ` })
  await fail('client_unknown', noCredentials, basic('another', PORTAL.clientSecret))
  await fail('client_secret_wrong', noCredentials, basic(PORTAL.clientId, 'wrong'))
  for (const authorization of ['Basic', 'Basic !', 'Basic eA==', `Basic ${btoa('%zz:x')}`, `Basic ${btoa('x:%zz')}`]) {
    await fail('authentication_malformed', noCredentials, { authorization })
  }
  for (const [answer, reason] of answers) {
    t.equal(answer.status, 401, reason)
    t.equal(answer.headers.get('www-authenticate'), 'Basic realm="partner-sso"')
    t.strictSame(answer.json, answers[0]?.[0].json)
    t.equal(answer.json.error, 'invalid_client')
  }
  t.equal((await portal.token({ code })).status, 200, 'the code is still good')
})

t.test('HTTP Basic instead of the form', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  for (const changes of [noCredentials, { client_secret: undefined }, { client_secret: '' }]) {
    t.equal((await portal.token({ code: await portal.code(), ...changes }, PORTAL_BASIC)).status, 200)
  }
  const scheme = (name: string) => ({ authorization: PORTAL_BASIC.authorization.replace('Basic', name) })
  t.equal((await portal.token({ code: await portal.code(), ...noCredentials }, scheme('bAsIc'))).status, 200)
  events.length = 0
  const code = await portal.code()
  for (const changes of [{}, { client_id: undefined }, { client_id: 'another', client_secret: undefined }]) {
    const answer = await portal.token({ code, ...changes }, PORTAL_BASIC)
    t.strictSame([answer.status, answer.json.error], [400, 'invalid_request'])
    t.match(events.pop(), { type: 'request_rejected', reason: 'authentication_repeated' })
  }
  t.equal((await portal.token({ code }, { authorization: 'Bearer x' })).status, 200, 'another scheme is not looked at')
  t.equal((await portal.token({ code: await portal.code() }, scheme('XBasic'))).status, 200)
})

t.test('a colon, plus and percent in a secret', async (t) => {
  const secret = 'a:b+c%20d ~'
  const { url } = await startHost(t, { portal: { ...PORTAL, clientSecret: secret } })
  const portal = wire(url, { ...PORTAL, clientSecret: secret })
  t.equal((await portal.token({ code: await portal.code() })).status, 200)
  const encoded = new URLSearchParams({ s: secret }).toString().slice(2)
  const headers = { authorization: `Basic ${btoa(`${PORTAL.clientId}:${encoded.replaceAll('%3A', ':')}`)}` }
  const { status } = await portal.token({ code: await portal.code(), ...noCredentials }, headers)
  t.equal(status, 200, 'split at the first colon')
})

t.test('while a secret is rotated, each is accepted', async (t) => {
  const other = { ...PORTAL, clientId: 'other', clientSecret: 'only one' }
  const { url } = await startHost(t, { portal: [{ ...PORTAL, clientSecret: ['the new one', 'the old one'] }, other] })
  const portal = wire(url)
  for (const client_secret of ['the new one', 'the old one']) {
    t.equal((await portal.token({ code: await portal.code(), client_secret })).status, 200)
  }
  for (const client_secret of [PORTAL.clientSecret, 'the new one,the old one', 'only one']) {
    t.equal((await portal.token({ code: await portal.code(), client_secret })).status, 401)
  }
  t.equal((await wire(url, other).token({ code: await wire(url, other).code() })).status, 200)
})

t.test('another redirect_uri leaves the code good', async (t) => {
  const { url, events } = await startHost(t)
  const code = await wire(url).code()
  const answer = await wire(url).token({ code, redirect_uri: `${PORTAL.redirectUri}?` })
  t.strictSame([answer.status, answer.json.error], [400, 'invalid_grant'])
  t.match(events.pop(), { reason: 'redirect_uri_mismatch', expected: PORTAL.redirectUri, clientId: PORTAL.clientId })
  t.equal((await wire(url).token({ code })).status, 200)
})

t.test('a code that is unknown, used, expired or another portal\'s', async (t) => {
  const other = { ...PORTAL, clientId: 'other' }
  const { url, events } = await startHost(t, { portal: [PORTAL, other], codeLifetime: 600 })
  const portal = wire(url)
  const refused = async (code: string, reason: string, by = portal) => {
    const answer = await by.token({ code })
    t.strictSame([answer.status, answer.json.error], [400, 'invalid_grant'], reason)
    t.match(events.pop(), { reason, clientId: by === portal ? PORTAL.clientId : 'other' })
  }
  await refused('not a code', 'code_malformed')
  await refused('A'.repeat(44), 'code_unknown')

  const used = await portal.code()
  const { access_token: token } = (await portal.token({ code: used })).json
  await portal.user(token)
  await refused(used, 'code_unknown')

  const foreign = await portal.code()
  await refused(foreign, 'code_unknown', wire(url, other))
  t.equal((await portal.token({ code: foreign })).status, 200, 'and is still good where it belongs')

  const expired = await portal.code()
  passTime(t, 300)
  const inTime = await portal.code()
  passTime(t, 300)
  await refused(expired, 'code_unknown')
  t.equal((await portal.token({ code: inTime })).status, 200, 'half its lifetime later a code is still good')
})

t.test('a replay of the code kills the token it yielded', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const token = (await portal.token({ code })).json.access_token
  await portal.token({ code, client_secret: 'wrong' })
  await portal.token({ code })
  t.match(events.pop(), { type: 'code_replayed' })
  t.equal((await portal.user(token)).status, 401)
})

t.test('a replay that authenticates with HTTP Basic kills the token as well', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const token = (await portal.token({ code, ...noCredentials }, PORTAL_BASIC)).json.access_token
  const wrong = await portal.token({ code, ...noCredentials }, basic(PORTAL.clientId, 'wrong'))
  t.equal(wrong.status, 401)
  const replay = await portal.token({ code, ...noCredentials }, PORTAL_BASIC)
  t.strictSame([replay.status, replay.json.error], [400, 'invalid_grant'])
  t.match(events.at(-1), { type: 'code_replayed', reason: 'code_replayed', clientId: PORTAL.clientId })
  const answer = await portal.user(token)
  t.strictSame([answer.status, answer.json.error], [401, 'invalid_token'])
})

t.test('a replay by someone who does not authenticate kills nothing', async (t) => {
  const { url } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const token = (await portal.token({ code })).json.access_token
  await portal.token({ code, client_secret: 'wrong' })
  t.equal((await portal.user(token)).status, 200)
})

t.test('a code at the user endpoint, and a token at the token endpoint, stay good where they belong', async (t) => {
  const { url } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  t.equal((await portal.user(code)).status, 401)
  const issued = await portal.token({ code })
  t.equal(issued.status, 200)
  const token = issued.json.access_token
  t.equal((await portal.token({ code: token })).json.error, 'invalid_grant')
  t.equal((await portal.token({ code: token.slice(20) })).json.error, 'invalid_grant')
  t.strictSame((await portal.user(token)).json, recordOf('alice'))
})

t.test('PKCE', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' // RFC 7636 appendix B
  const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }
  const long = 'a'.repeat(129)
  const challengeOf = (text: string) =>
    ({ ...challenge, code_challenge: createHash('sha256').update(text).digest('base64url') })
  t.equal((await portal.token({ code: await portal.code('alice', challenge), code_verifier: verifier })).status, 200)

  const cases: [Record<string, string>, string | undefined, string][] = [
    [challenge, undefined, 'code_verifier_missing'],
    [challenge, '', 'code_verifier_missing'],
    [challenge, `${verifier}x`, 'code_verifier_mismatch'],
    [challenge, challenge.code_challenge, 'code_verifier_mismatch'],
    [challengeOf('short'), 'short', 'code_verifier_mismatch'],
    [challengeOf(long), long, 'code_verifier_mismatch'],
    [{}, verifier, 'code_verifier_unexpected']
  ]
  for (const [asked, codeVerifier, reason] of cases) {
    const code = await portal.code('alice', asked)
    const answer = await portal.token({ code, code_verifier: codeVerifier })
    t.strictSame([answer.status, answer.json.error], [400, 'invalid_grant'], reason)
    t.match(events.pop(), { reason, externalId: 'alice' })
    t.equal((await portal.token({ code, code_verifier: verifier })).status, 400, 'the code stays consumed')
    t.match(events.pop(), { reason: 'code_unknown' }, 'there was no token to revoke')
  }
})

t.test('a used code whose token is about to be issued', async (t) => {
  // The replay comes after the code was taken and before the token is put.
  const { MemoryStore } = await import('../../lib/stores/memory.ts')
  const memory = new MemoryStore(10)
  let onTaken = async () => {}
  const store = {
    put: memory.put.bind(memory),
    revoke: memory.revoke.bind(memory),
    async take (key: string) {
      const value = await memory.take(key)
      if (value !== null) await onTaken()
      return value
    }
  }
  const { url, events } = await startHost(t, { store })
  const portal = wire(url)
  const code = await portal.code()
  onTaken = async () => { await portal.token({ code }) }
  const answer = await portal.token({ code })
  t.strictSame([answer.status, answer.json.error], [400, 'invalid_grant'])
  t.match(events.pop(), { type: 'code_replayed', reason: 'code_replayed', externalId: 'alice' })
  t.equal(events.filter(({ type }) => type === 'token_issued').length, 0)
})

t.test('every answer says that it must not be stored', async (t) => {
  const { url } = await startHost(t)
  const portal = wire(url)
  const answers = [
    await portal.token({ code: await portal.code() }),
    await portal.token({}),
    await portal.token({ client_id: 'x', code: 'x' })
  ]
  for (const answer of answers) {
    t.equal(answer.headers.get('cache-control'), 'no-store')
    t.equal(answer.headers.get('pragma'), 'no-cache')
  }
})

t.test('another method finds nothing', async (t) => {
  const { url, events } = await startHost(t)
  const others = {
    '/oauth/authorize': ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'],
    '/oauth/token': ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'],
    '/oauth/user': ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']
  }
  for (const [path, methods] of Object.entries(others)) {
    for (const method of methods) t.equal((await fetch(url + path, { method })).status, 404, `${method} ${path}`)
  }
  t.strictSame(events, [])
})
