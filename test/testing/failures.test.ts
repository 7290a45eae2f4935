// A sign-in that fails says at which step, what was expected, what it got, and what to do.
import t from 'tap'
import { failure, fixFor } from '../../lib/flow/failure.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { stepsOf } from '../../lib/flow/steps.ts'
import { portal } from '../../lib/testing/index.ts'
import type { Change } from '../app.ts'
import { hookAt, jsonAt, partnerApp, PORTAL, sentAt, sessionOf, SETTINGS, startApp } from '../app.ts'
import { freePort } from '../helpers/ports.ts'
import { httpServer } from '../helpers/listen.ts'
import { respond, responding } from '../helpers/responses.ts'

const textAt = (type: string, body: string): Change =>
  sentAt('/oauth/token', (_payload, _request, reply) => {
    reply.type(type)
    return body
  })
const leadingTo = (loginPage: (returnTo: string) => string): Change => ({ options: { loginPage } })
const failing = (): never => { throw new Error('view not found') }
const [ada, eve] = [sessionOf('ada'), sessionOf('eve')]

const CASES: Array<[change: Change, cookies: string, step: number, error: string, got: RegExp]> = [
  [jsonAt('/oauth/user', { control_role: 'Administrator', email: '' }), ada, 15, 'malformed_record',
    /^email must be .*; control_role must be "Partner .*, got "Administrator"$/],
  [textAt('text/html', '<title>Welcome</title>'), ada, 12, 'not_json', /^200 with text\/html \(“Welcome”\)$/],
  [textAt('text/plain', 'No <b>token</b>'), ada, 12, 'not_json', /^200 with text\/plain \(“No token”\)$/],
  [hookAt('/oauth/token', 401, { error: 'Unauthorized', message: 'Log in' }), ada, 9, 'forbidden',
    /^401 with the error Unauthorized \(Log in\)$/],
  [{}, '', 5, 'login_required', /^200 with text\/html \(“Log in”\) at http.*\/login\?return_to=/],
  [{ loginPage: failing }, '', 5, 'server_error',
    /^500 with the error Internal Server Error \(view not found\) at \S+\/login/],
  [leadingTo(() => 'https://login.example/'), '', 5, 'login_required', /^302 with a redirect to https:\/\/login/],
  [leadingTo((returnTo) => returnTo), '', 5, 'redirect_loop', /^more than ten redirects, the last 302/],
  [leadingTo(() => `${PORTAL.redirectUri}/more`), '', 7, 'not_redirected', /^302 with a redirect to .*\/more$/],
  [leadingTo(() => 'http://['), '', 5, 'not_redirected', /^302/],
  [hookAt('/oauth/authorize', 403, { error: 'access_denied' }), eve, 5, 'login_required', /^403 with the error/],
  [{}, eve, 5, 'access_denied',
    /^302 .* to \S+ with the error access_denied \(The user may not enter the portal\.\)$/]
]

for (const [change, cookies, step, error, got] of CASES) {
  t.test(`${step} ${error} ${got}`, async (t) => {
    const app = partnerApp(change)
    const result = await portal({ app, ...SETTINGS }).signIn({ cookies })
    t.match(result, { ok: false, step, error, got, expected: String, fix: String })
    const outcomes = result.steps
      .slice(step - 1)
      .map(({ outcome }) => outcome)
    t.strictSame(outcomes, ['failed', ...Array(15 - step).fill('waiting')])
  })
}

t.test('what is expected is that of the request to which the step belongs', (t) => {
  for (let step = 4; step <= 15; step++) {
    const expected = step <= 8 ? /^a redirect / : step <= 12 ? /access_token/ : /user information record/
    t.match(failure(step, 'refused', '').expected, expected, `step ${step}`)
  }
  t.end()
})

/** What to do about each code, by words that no other code has. */
const FIXES: Record<string, RegExp> = {
  unreachable: /Start the service/,
  timeout: /what the service waits for/,
  not_http: /something other than the service listens/,
  tls: /check the certificate/,
  hung_up: /closed the connection/,
  too_large: /not the response of an OAuth endpoint/,
  app_failed: /inject\(\) threw/,
  login_required: /Log the user in first/,
  redirect_loop: /lead to each other/,
  not_redirected: /must redirect a good request/,
  refused: /client_id and redirect_uri/,
  not_found: /base URL and prefix/,
  redirected: /application’s login hook/,
  forbidden: /\(login, CSRF\)/,
  state_mismatch: /state back unchanged/,
  no_code: /carry the parameter code/,
  not_json: /Respond with JSON/,
  malformed_token: /token_type "Bearer"/,
  malformed_record: /Correct the record/,
  access_denied: /may not use the portal/,
  invalid_request: /the parameter that it did not accept/,
  invalid_client: /client_id and client_secret/,
  invalid_grant: /The code was unknown/,
  invalid_token: /The token was unknown/,
  server_error: /error log of the service/,
  unavailable: /A proxy or a process that is being stopped/,
  temporarily_unavailable: /The store of the service fails/,
  'an error of another server': /^See the log of the service\.$/
}

t.test('what to do is that of the code', (t) => {
  for (const [error, words] of Object.entries(FIXES)) {
    t.strictSame(Object.keys(FIXES).filter((other) => words.test(fixFor(other))), [error], error)
  }
  t.end()
})

t.test('wrong settings of the portal', async (t) => {
  const { baseUrl } = await startApp(t)
  for (const [changes, step, error] of [
    [{ clientId: 'nobody' }, 6, 'refused'],
    [{ redirectUri: 'https://foreign.example/cb' }, 6, 'refused'],
    [{ clientSecret: 'wrong' }, 11, 'invalid_client'],
    [{ level: 'client' }, 15, 'malformed_record'],
    [{ prefix: 'app' }, 4, 'not_found'],
    [{ baseUrl: `http://127.0.0.1:${await freePort()}` }, 4, 'unreachable']
  ] as const) {
    const result = await portal({ baseUrl, ...SETTINGS, ...changes }).signIn({ cookies: ada })
    t.match(result, { ok: false, step, error }, JSON.stringify(changes))
  }
})

const CALLBACKS: Array<[query: string, step: number, error: string, got: string]> = [
  ['state=STATE', 7, 'no_code', `${PORTAL.redirectUri}?state=`],
  ['state=STATE&code=', 7, 'no_code', '&code='],
  ['state=STATE&code=a&code=b', 7, 'no_code', '&code=••••••••&code=••••••••'],
  ['code=a', 8, 'state_mismatch', '?code=••••••••'],
  ['code=a&state=x', 8, 'state_mismatch', '&state=x'],
  ['code=a&state=x&state=STATE', 8, 'state_mismatch', '&state=x&state='],
  ['code=a&state=STATE&state=STATE', 8, 'state_mismatch', '&state='],
  ['error=server_error', 5, 'server_error', 'with the error server_error'],
  ['error=invalid_request', 6, 'invalid_request', 'with the error invalid_request'],
  ['error=unsupported_response_type', 6, 'unsupported_response_type', 'with the error'],
  ['error=a%1B%F3%A0%81%81', 7, 'a\\u001b\\udb40\\udc41', 'with the error a\\u001b\\udb40\\udc41']
]

t.test('what the redirect to the portal says', async (t) => {
  let given = ''
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    const state = String(new URL(url, 'http://x').searchParams.get('state'))
    respond(response, 302, '', { Location: `${PORTAL.redirectUri}?${given.replaceAll('STATE', state)}` })
  })
  for (const [query, step, error, got] of CALLBACKS) {
    given = query
    const result = await portal({ baseUrl, ...SETTINGS }).authorize()
    t.match(result, { step, error, got, fix: String }, query)
  }
})

const bearer = { token_type: 'Bearer', access_token: 'the-token' }
const RESPONSES: Array<[status: number, body: object, step: number, error: string]> = [
  [400, { error: 'invalid_request' }, 9, 'invalid_request'],
  [400, { error: 'invalid_grant' }, 10, 'invalid_grant'],
  [401, { error: 'invalid_client' }, 11, 'invalid_client'],
  [503, { error: 'temporarily_unavailable' }, 12, 'temporarily_unavailable'],
  [500, { error: 'server_error' }, 12, 'server_error'],
  [200, { error: 'invalid_grant' }, 12, 'malformed_token'],
  [200, { ...bearer, token_type: 'bearer' }, 12, 'malformed_token'],
  [200, { ...bearer, access_token: '' }, 12, 'malformed_token'],
  [200, { token_type: 'Bearer' }, 12, 'malformed_token'],
  [200, [], 12, 'not_json'],
  [201, bearer, 9, 'unexpected_status'],
  [300, {}, 9, 'unexpected_status'],
  [301, {}, 9, 'redirected'],
  [308, {}, 9, 'redirected'],
  [401, {}, 9, 'forbidden'],
  [403, {}, 9, 'forbidden'],
  [404, {}, 9, 'not_found'],
  [405, {}, 9, 'not_found'],
  [500, {}, 9, 'server_error'],
  [502, {}, 9, 'unavailable'],
  [504, {}, 9, 'unavailable'],
  [505, {}, 9, 'server_error']
]

t.test('each response of the token endpoint belongs to a step', async (t) => {
  const redeemed = async (status: number, body: object, type = 'application/json') => {
    const baseUrl = await responding(t, status, body, { 'Content-Type': type })
    return await portal({ baseUrl, ...SETTINGS }).token('the-code')
  }
  for (const [status, body, step, error] of RESPONSES) {
    t.match(await redeemed(status, body), { step, error }, JSON.stringify([status, body]))
  }
  // Not the body: a token under another name would be shown.
  t.match(await redeemed(200, { token_type: 'b' }), { got: 'token_type b, access_token undefined' })
  t.match(await redeemed(200, { access_token: ['a-token'] }), { got: 'token_type undefined, access_token object' })
  t.match(await redeemed(400, { error: 'invalid_grant', message: 'x'.repeat(10_000) }), {
    got: /^400 with the error invalid_grant \(x{160}…\)$/
  })
  t.match(await redeemed(200, bearer, 'Application/JSON; charset=utf-8'), { ok: true })
  for (const type of ['text/json', 'application/json-seq']) {
    t.match(await redeemed(200, bearer, type), { error: 'not_json' }, type)
  }
})

t.test('an error that is called as a property of every object', async (t) => {
  const headers = { Location: `${PORTAL.redirectUri}?error=constructor` }
  const baseUrl = await responding(t, 302, {}, headers)
  t.match(await portal({ baseUrl, ...SETTINGS }).signIn(), { step: 7, error: 'constructor', fix: String })
})

const PROVEN: Array<[error: string, step: number, legs: number, done: number]> = [
  ['unreachable', 4, 2, 3],
  ['login_required', 5, 2, 4],
  ['no_code', 7, 2, 6],
  ['state_mismatch', 8, 2, 7],
  ['not_found', 9, 3, 8],
  ['invalid_client', 11, 3, 9],
  ['malformed_token', 12, 3, 11],
  // The response may be that of something in front, or of a service that has done half of it.
  ['not_json', 12, 3, 9],
  ['temporarily_unavailable', 12, 3, 9],
  ['invalid_token', 14, 4, 13],
  ['not_json', 15, 4, 13],
  ['malformed_record', 15, 4, 14]
]

t.test('a failure shows which of the steps before it succeeded', async (t) => {
  const exchange = { request: { method: 'GET', url: 'http://x/', headers: [] }, milliseconds: 1 }
  for (const [error, step, legs, done] of PROVEN) {
    const exchanges = Array(legs).fill(exchange)
    const steps = stepsOf({ exchanges, failure: failure(step, error, 'something else') })
    const outcomes = Array(15)
      .fill('waiting')
      .fill('done', 0, done)
      .fill('failed', step - 1, step)
    t.strictSame(steps.map(({ outcome }) => outcome), outcomes, error)
  }
  const started = stepsOf({ exchanges: [exchange], failure: null, running: 5 })
  t.equal(started[4]?.outcome, 'running')
})

t.test('a slow service ends at the timeout', async (t) => {
  const app = partnerApp({
    prepare: (app) => app.addHook('onRequest', (_request, _reply, _done) => {})
  })
  const baseUrl = await httpServer(t, () => {})
  for (const where of [{ app }, { baseUrl }]) {
    const row = `${Object.keys(where)}`
    const { signIn, token, user } = portal({ ...where, ...SETTINGS, timeout: 50 })
    const { steps, ...result } = await signIn()
    t.match(result, { step: 4, error: 'timeout', got: /within 0\.05 s/ }, row)
    t.match(steps[3], { outcome: 'failed', exchange: { milliseconds: Number } }, `${row}: its time`)
    t.match(await token('code'), { step: 9 }, row)
    t.match(await user('token'), { step: 13 }, row)
  }
  const { timeout, ...settings } = SETTINGS
  t.match([timeout, createIntegration({ ...settings, baseUrl }).timeout], [60_000, 5000])
})

t.test('an app that does not start', async (t) => {
  const app = partnerApp()
  app.register(async () => { throw new Error('no database') })
  const result = await portal({ app, ...SETTINGS }).signIn()
  t.match(result, { step: 4, error: 'app_failed', got: 'The app failed: no database' })
})

t.test('a bad option is named', async (t) => {
  const app = partnerApp()
  for (const [changes, sentence] of [
    [{ clientId: '' }, 'portal(): option "clientId" must be a non-empty string'],
    [{ clientSecret: undefined }, '"clientSecret"'],
    [{ redirectUri: '/callback' }, '"redirectUri" must be an absolute URL'],
    [{ timeout: 0 }, '"timeout" must be a positive number'],
    [{ timeout: Infinity }, '"timeout"'],
    [{ timeout: 2 ** 31 }, '"timeout" must be a positive number of milliseconds below 2 ** 31'],
    ...['boss', 'partners', 'thin-client'].map((level) =>
      [{ level }, '"level" must be \'partner\' or \'client\''] as const),
    [{ clientAuthentication: 'none' }, '"clientAuthentication" must be \'form\' or \'basic\''],
    [{ app: undefined }, '"app" must be a Fastify app, or baseUrl'],
    [{ baseUrl: 'http://localhost' }, 'exactly one'],
    [{ app: undefined, baseUrl: 'ftp://localhost' }, '"baseUrl" must be an absolute http'],
    [{ app: undefined, baseUrl: 'http://localhost#x' }, 'without query and fragment']
  ] as Array<[object, string]>) {
    const create = () => portal({ app, ...SETTINGS, ...changes })
    t.throws(create, { name: 'TypeError', message: sentence }, sentence)
  }
})
