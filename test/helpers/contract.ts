import type { Test } from 'tap'
import { PORTAL, recordOf } from './host.ts'
import type { Answer, Wire } from './wire.ts'

const TOKEN_UNKNOWN = 'The access token is unknown, used or expired.'

/** Who is at the browser, and how the host knows. */
export interface Visitor {
  user?: string
  /** Headers that log the user in; by default the one that `hostOptions` looks at. */
  headers?: Record<string, string>
}

/**
 * The whole contract in short, to the letter: a sign-in, and the refusals that a host's ways are most likely to bend.
 * Whatever the host does to its app, this holds.
 */
export async function keepsContract (t: Test, portal: Wire, visitor: Visitor = {}): Promise<void> {
  await t.test('a sign-in', async (t) => await signsIn(t, portal, visitor))
  await t.test('refusals by redirect', async (t) => await refusesByRedirect(t, portal, visitor))
  await t.test('refusals by page', async (t) => await refusesByPage(t, portal))
  await t.test('refusals of the token endpoint', async (t) => await refusesToken(t, portal, visitor))
  await t.test('refusals of the user endpoint', async (t) => await refusesUser(t, portal))
  await t.test('no HEAD twins', async (t) => await hasNoTwins(t, portal, visitor))
}

/** A sign-in whose every answer is as it must be. */
export async function signsIn (t: Test, portal: Wire, visitor: Visitor = {}): Promise<void> {
  const { user = 'alice', headers = { 'x-user': user } } = visitor
  const authorized = await portal.authorize({ state: 'a+b%20c%2F%C3%A9' }, null, headers)
  const [location = '', state] = authorized.headers.get('location')?.split('&state=') ?? []
  const [, code = ''] = /^https:\/\/portal\.example\/oauth\/callback\?code=([\w-]{44})$/.exec(location) ?? []
  t.equal(authorized.status, 302)
  t.not(code, '', 'the browser is redirected to the portal, with a code')
  t.equal(state, 'a%2Bb%2520c%252F%25C3%25A9', 'and with the state as it was sent')
  t.equal(authorized.text, '')
  isGuarded(t, authorized)

  const issued = await portal.token({ code })
  isJson(t, issued, 200)
  t.match(issued.text, /^\{"token_type":"Bearer","access_token":"[\w-]{63}"\}$/)

  const answered = await portal.user(issued.json.access_token)
  isJson(t, answered, 200, recordOf(user))

  isRefused(t, await portal.user(issued.json.access_token), 401, 'invalid_token', TOKEN_UNKNOWN)
  isRefused(t, await portal.token({ code }), 400, 'invalid_grant', 'The code is unknown, used or expired.')
}

async function refusesByRedirect (t: Test, portal: Wire, visitor: Visitor): Promise<void> {
  const { user = 'alice', headers = { 'x-user': user } } = visitor
  const denied = await portal.authorize({ response_type: 'token', state: 'S' }, null, headers)
  t.equal(denied.status, 302)
  t.equal(denied.headers.get('location'),
    `${PORTAL.redirectUri}?error=unsupported_response_type` +
    '&error_description=The%20response_type%20must%20be%20code.&state=S')
  isGuarded(t, denied)

  const { clientId, redirectUri } = PORTAL
  const parameters = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'S' }
  const query = new URLSearchParams(parameters)
  const repeated = await portal.send(`/oauth/authorize?${query}&scope=a&scope=b`, { headers })
  t.equal(repeated.redirect.get('error'), 'invalid_request', 'a repeated parameter is found, with any query parser')
  t.equal(repeated.redirect.get('state'), 'S')
}

async function refusesByPage (t: Test, portal: Wire): Promise<void> {
  const description = 'The redirect_uri is not the registered one.'
  const json = await portal.authorize({ redirect_uri: 'https://elsewhere.example/' }, null)
  isRefused(t, json, 400, 'invalid_request', description)
  isGuarded(t, json)

  const html = { accept: 'text/html,*/*;q=0.8' }
  const page = await portal.authorize({ redirect_uri: 'https://elsewhere.example/' }, null, html)
  t.equal(page.status, 400)
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const heading = '<h1>This sign-in cannot go on</h1>'
  t.match(page.text, new RegExp(`^<!doctype html>.*${heading}.*${description}.*</html>\n$`, 's'))
  const policy = page.headers.get('content-security-policy')?.replace(/'sha256-[\w+/=]+'/, 'STYLE')
  t.equal(policy,
    "default-src 'none'; style-src STYLE; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
  isPrivate(t, page)
}

async function refusesToken (t: Test, portal: Wire, visitor: Visitor): Promise<void> {
  const { user = 'alice', headers = { 'x-user': user } } = visitor
  const code = (await portal.authorize({}, null, headers)).redirect.get('code') as string
  const wrong = await portal.token({ code, client_secret: 'wrong' })
  isRefused(t, wrong, 401, 'invalid_client', 'Client authentication failed.')
  t.equal(wrong.headers.get('www-authenticate'), 'Basic realm="partner-sso"')
  isRefused(t, await portal.token({ code: undefined }), 400, 'invalid_request', 'The code parameter is missing.')
  const otherUri = await portal.token({ code, redirect_uri: `${PORTAL.redirectUri}/` })
  isRefused(t, otherUri, 400, 'invalid_grant', 'The redirect_uri is not the one the code was issued for.')
  const form = new URLSearchParams([['code', code], ['code', code]])
  const repeated = await portal.send('/oauth/token', { method: 'POST', body: form })
  isRefused(t, repeated, 400, 'invalid_request', 'A parameter is repeated.')
  const bodies = {
    'application/json': JSON.stringify({ code }), 'text/plain': code, 'multipart/form-data; boundary=x': '--x--'
  }
  for (const [type, body] of Object.entries(bodies)) {
    const answer = await portal.send('/oauth/token', { method: 'POST', headers: { 'content-type': type }, body })
    isRefused(t, answer, 400, 'invalid_request', 'The body must be application/x-www-form-urlencoded.')
  }
  t.equal((await portal.token({ code })).status, 200, 'none of this used the code up')
}

async function refusesUser (t: Test, portal: Wire): Promise<void> {
  const none = await portal.user(undefined)
  t.equal(none.status, 401)
  t.equal(none.text, '')
  t.equal(none.headers.get('www-authenticate'), 'Bearer realm="partner-sso"')
  isPrivate(t, none)

  const unknown = await portal.user('A'.repeat(63))
  isRefused(t, unknown, 401, 'invalid_token', TOKEN_UNKNOWN)
  t.match(unknown.headers.get('www-authenticate'), /^Bearer realm="partner-sso", error="invalid_token", /)
  isRefused(t, await portal.user('not a token'), 400, 'invalid_request', 'The Authorization header is malformed.')
}

/** A HEAD that ran a GET handler would issue a code, or use up a token. */
async function hasNoTwins (t: Test, portal: Wire, visitor: Visitor): Promise<void> {
  const { user = 'alice', headers = { 'x-user': user } } = visitor
  const code = (await portal.authorize({}, null, headers)).redirect.get('code') as string
  const token = (await portal.token({ code })).json.access_token as string
  for (const path of ['/oauth/authorize', '/oauth/user']) {
    const credentials = { ...headers, authorization: `Bearer ${token}` }
    const { status } = await portal.send(path, { method: 'HEAD', headers: credentials })
    t.equal(status, 404, `HEAD ${path}`)
  }
  t.equal((await portal.user(token)).status, 200, 'the token is still good')
}

/** A refusal in JSON, to the letter. */
export function isRefused (t: Test, answer: Answer, status: number, error: string, description: string): void {
  isJson(t, answer, status, { error, error_description: description })
}

function isJson (t: Test, answer: Answer, status: number, body?: unknown): void {
  t.equal(answer.status, status)
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  if (body !== undefined) t.equal(answer.text, JSON.stringify(body))
  isPrivate(t, answer)
}

/** What every answer of the three routes has. */
export function isPrivate (t: Test, { headers }: Answer): void {
  t.equal(headers.get('cache-control'), 'no-store')
  t.equal(headers.get('pragma'), 'no-cache')
  t.strictSame([...headers.keys()].filter((name) => name.startsWith('access-control-')), [], 'open to no other origin')
}

/** What every answer of the authorization endpoint has, the page apart. */
export function isGuarded (t: Test, answer: Answer): void {
  isPrivate(t, answer)
  t.equal(answer.headers.get('referrer-policy'), 'no-referrer')
  t.equal(answer.headers.get('x-frame-options'), 'DENY')
  t.equal(answer.headers.get('content-security-policy'), "frame-ancestors 'none'")
}
