// A sign-in that fails says at which step, what was expected, what it got, and what to do.
import { inspect } from 'node:util'
import t from 'tap'
import { describe, failure } from '../../lib/flow/failure.ts'
import type { Failure } from '../../lib/flow/failure.ts'
import { portal } from '../../lib/testing/index.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { stepsOf } from '../../lib/flow/steps.ts'
import { freePort } from '../helpers/ports.ts'
import { httpServer } from '../helpers/raw-server.ts'
import type { Change } from '../helpers/partner.ts'
import {
  CLIENT_SECRET, hookAt, jsonAt, listening, locationAt, partner, REDIRECT_URI, sentAt, sessionOf, SETTINGS
} from '../helpers/partner.ts'
import { respond, responding } from '../helpers/responses.ts'

const asType = (type: string, body?: string): Change => sentAt('/oauth/token', (payload, _request, reply) => {
  reply.type(type)
  return body ?? payload
})
const loginPage = (loginPage: () => string): Change => ({ options: { loginPage } })
const AUTH = { error: 'Unauthorized', message: 'Log in first' }

type Case = [name: string, change: Change, step: number, error: string, got: RegExp, cookie?: string]

const CASES: Case[] = [
  ['a role', jsonAt('/oauth/user', { control_role: 'Administrator' }), 15, 'malformed_record',
    /^control_role must be "Partner Administrator" or "Partner Read Only".*, got "Administrator"$/],
  ['no user endpoint', hookAt('/oauth/user', 404, { error: 'Not Found' }), 13, 'not_found',
    /^404 with the error Not Found/],
  ['the client level', {}, 15, 'malformed_record', /^type must be "client" at the client level, got "partner"$/],
  ['a page', asType('text/html', '<title>Welcome</title>'), 12, 'not_json', /^200 with text\/html \(“Welcome”\)$/],
  ['text', asType('text/plain'), 12, 'not_json', /^200 with text\/plain \(“\{"token_type"/],
  ['bearer', jsonAt('/oauth/token', { token_type: 'bearer' }), 12, 'malformed_token',
    /^token_type "bearer", access_token given$/],
  ['a hook', hookAt('/oauth/token', 401, AUTH), 9, 'forbidden', /^401 with the error Unauthorized \(Log in first\)$/],
  ['a hook that redirects', {
    prepare: (app) => app.addHook('onRequest', async ({ url }, reply) =>
      url === '/oauth/token' ? reply.redirect('/login') : undefined)
  }, 9, 'redirected', /^302 with a redirect to \/login$/],
  ['another state', locationAt(({ searchParams }) => searchParams.set('state', 'x')), 8, 'state_mismatch',
    /^1 state, not the one/],
  ['no state', locationAt(({ searchParams }) => searchParams.delete('state')), 8, 'state_mismatch', /^no state$/],
  ['a login page', {}, 5, 'login_required', /^200 with text\/html \(“Log in”\) at http.*\/login\?return_to=/, ''],
  ['a login page that fails', { loginPage: () => { throw new Error('view not found') } }, 5, 'server_error',
    /^500 with the error Internal Server Error \(view not found\)$/, ''],
  ['another site', loginPage(() => 'https://login.partner.example/'), 5, 'login_required',
    /^302 with a redirect to https:\/\/login\.partner\.example\/$/, ''],
  ['a loop', { options: { loginPage: (returnTo) => returnTo } }, 5, 'redirect_loop',
    /^more than ten redirects, the last 302/, ''],
  ['a refusal without redirect', hookAt('/oauth/authorize', 403, { error: 'access_denied' }), 5, 'login_required',
    /^403 with the error access_denied$/, sessionOf('eve')],
  ['a refusal', {}, 5, 'access_denied', /^the error access_denied \(The user may not enter the portal\.\)$/,
    sessionOf('eve')]
]

for (const [name, change, step, error, got, cookie = sessionOf('ada')] of CASES) {
  await t.test(name, async (t) => {
    const app = partner(change)
    const level = name === 'the client level' ? 'client' : 'partner'
    const result = await portal({ app, ...SETTINGS, level }).signIn({ cookies: cookie })
    if (result.ok) throw new Error('signed in')
    t.match(result, { ok: false, step, error, got, expected: String, fix: String })
    t.equal(result.steps[step - 1]?.outcome, 'failed')
    t.ok(result.steps.slice(step).every(({ outcome }) => outcome === 'waiting'))
    t.notMatch(JSON.stringify(result), CLIENT_SECRET)
  })
}

await t.test('a failure shows which of the steps before it succeeded', (t) => {
  const exchange = { request: { method: 'GET', url: 'http://x/', headers: [] }, milliseconds: 1 }
  const outcomesOf = (legs: number, failed: Failure | null, running?: number) =>
    stepsOf({ exchanges: Array(legs).fill(exchange), failure: failed, running }).map(({ outcome }) => outcome)
  for (const [error, step, legs, done] of [
    ['unreachable', 4, 2, 3],
    ['login_required', 5, 2, 4],
    ['refused', 6, 2, 4],
    ['no_code', 7, 2, 6],
    ['state_mismatch', 8, 2, 7],
    ['not_found', 9, 3, 8],
    ['invalid_client', 11, 3, 9],
    ['not_json', 12, 3, 9],
    ['malformed_token', 12, 3, 11],
    ['invalid_token', 14, 4, 13],
    ['malformed_record', 15, 4, 14]
  ] as const) {
    const outcomes = Array(15).fill('waiting').fill('done', 0, done)
    outcomes[step - 1] = 'failed'
    t.strictSame(outcomesOf(legs, failure(step, error, 'something', 'something else')), outcomes, error)
  }
  t.strictSame(outcomesOf(1, null, 5), [...Array(4).fill('done'), 'running', ...Array(10).fill('waiting')])
  t.end()
})

await t.test('the time of a step is that of its own request', async (t) => {
  const { now } = performance
  t.teardown(() => { performance.now = now })
  performance.now = () => now.call(performance) + 1e9
  const app = partner()
  const { steps } = await portal({ app, ...SETTINGS }).signIn({ cookies: sessionOf('ada') })
  const times = steps.flatMap(({ milliseconds }) => milliseconds ?? [])
  t.ok(times.length >= 3 && times.every((time) => time >= 0 && time < 1e9), times.join())
})

await t.test('wrong settings of the portal', async (t) => {
  const { baseUrl } = await listening(t)
  const signIn = (changes: object) => portal({ baseUrl, ...SETTINGS, ...changes }).signIn({ cookies: sessionOf('ada') })
  t.match(await signIn({ clientId: 'nobody' }), { step: 6, error: 'refused', fix: /client_id and redirect_uri/ })
  t.match(await signIn({ redirectUri: 'https://foreign.example/cb' }), { step: 6, error: 'refused' })
  t.match(await signIn({ clientSecret: 'wrong' }), { step: 11, error: 'invalid_client' })
  t.match(await signIn({ baseUrl: `${baseUrl}/app` }), { step: 4, error: 'not_found' })
  t.match(await signIn({ baseUrl: `http://127.0.0.1:${await freePort()}` }), { step: 4, error: 'unreachable' })
  t.match(await signIn({ baseUrl: baseUrl.replace('http:', 'https:') }), { step: 4, error: 'tls' })
})

await t.test('a slow service ends at the timeout, in-process, too', async (t) => {
  const app = partner()
  app.addHook('onRequest', (_request, _reply, _done) => {})
  const signIn = await portal({ app, ...SETTINGS, timeout: 50 }).signIn()
  t.match(signIn, { step: 4, error: 'timeout', got: /within 0\.05 s/ })
  t.match(signIn.steps[3], { outcome: 'failed', milliseconds: Number }, 'a step without a response has its time')
  const baseUrl = await httpServer(t, () => {})
  const late = await portal({ baseUrl, ...SETTINGS, timeout: 50 }).token('code')
  t.match(late, { step: 9, error: 'timeout' })
  t.notMatch(inspect(late), 'Getter', 'a failed assertion shows its texts')
  t.match(await portal({ baseUrl, ...SETTINGS, timeout: 50 }).user('token'), { step: 13, error: 'timeout' })
})

await t.test('without a timeout there are five seconds', async (t) => {
  const { timeout, ...settings } = SETTINGS
  t.match([timeout, createIntegration({ ...settings, baseUrl: 'http://localhost' }).timeout], [60_000, 5000])
})

await t.test('an app that does not start', async (t) => {
  const app = partner()
  app.register(async () => { throw new Error('no database') })
  const result = await portal({ app, ...SETTINGS }).signIn()
  t.match(result, { step: 4, error: 'app_failed', got: 'The app failed: no database' })
})

await t.test('odd callbacks and responses', async (t) => {
  const signInWith = async (location: (query: URLSearchParams) => string, token?: object, user?: object) => {
    const baseUrl = await httpServer(t, ({ url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://x')
      if (pathname === '/oauth/authorize') return respond(response, 302, '', { Location: location(searchParams) })
      return respond(response, 200, pathname === '/oauth/token' ? token : user)
    })
    return portal({ baseUrl, ...SETTINGS }).signIn()
  }
  const back = (more: string) => (query: URLSearchParams) => `${REDIRECT_URI}?state=${query.get('state')}${more}`
  t.match(await signInWith(back('')), { step: 7, error: 'no_code', got: 'no code' })
  t.match(await signInWith(back('&code=')), { step: 7, error: 'no_code' })
  t.match(await signInWith(back('&code=a&code=b')), { step: 7, error: 'no_code', got: 'more than one code' })
  for (const more of ['state=b&state=STATE', 'state=STATE&state=b', 'state=STATE&state=STATE', 'state=b', 'state=']) {
    const repeated = (query: URLSearchParams) =>
      `${REDIRECT_URI}?code=a&${more.replaceAll('STATE', String(query.get('state')))}`
    t.match(await signInWith(repeated), { step: 8, error: 'state_mismatch', got: /^\d state, not the one/ }, more)
  }
  for (const [step, errors] of [
    [5, ['access_denied', 'login_required', 'server_error']],
    [6, ['invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope']]
  ] as const) {
    for (const error of errors) {
      t.match(await signInWith(back(`&error=${error}`)), { step, error, got: `the error ${error}` }, error)
    }
  }
  const other = { step: 7, error: 'something_else', fix: 'See the log of the service.' }
  t.match(await signInWith(back('&error=something_else')), other)
  const escaped = 'a\\u001b\\udb40\\udc41'
  t.match(await signInWith(back('&error=a%1B%F3%A0%81%81')), { error: escaped, got: `the error ${escaped}` })
  t.match(await signInWith(() => `${REDIRECT_URI}/more`), {
    step: 7, error: 'not_redirected', expected: `a redirect to ${REDIRECT_URI}`
  })
  t.match(await signInWith(() => 'http://['), { step: 5, error: 'not_redirected' })
  const given = (token: object, user?: object) => signInWith(back('&code=abcdef'), token, user)
  t.match(await given([]), { step: 12, error: 'not_json', got: '200 with application/json' })
  t.match(await given({ token_type: 'Bearer' }), { step: 12, error: 'malformed_token', got: /access_token missing/ })
  t.match(await given({ token_type: 'Bearer', access_token: '' }), { step: 12, error: 'malformed_token' })
  t.match(await given({ token_type: 'Bearer', access_token: 't' }, { type: 'client' }), {
    step: 15,
    got: /^external_id must be .*; email must be .*; name must be .*; control_role must be .*; product_role must be /
  })
})

await t.test('each response of the token endpoint belongs to a step', async (t) => {
  const responseOf = async (status: number, body: object) =>
    portal({ baseUrl: await responding(t, status, body), ...SETTINGS }).token('abcdef')
  for (const [error, step] of [
    ['invalid_request', 9], ['invalid_grant', 10], ['invalid_client', 11], ['unauthorized_client', 11],
    ['temporarily_unavailable', 12], ['server_error', 12]
  ] as const) t.match(await responseOf(400, { error }), { step, error }, error)
  for (const [status, error] of [
    [300, 'unexpected_status'], [301, 'redirected'], [308, 'redirected'], [401, 'forbidden'], [403, 'forbidden'],
    [404, 'not_found'], [405, 'not_found'], [418, 'unexpected_status'], [500, 'server_error'],
    [502, 'unavailable'], [503, 'unavailable'], [504, 'unavailable'], [505, 'server_error']
  ] as const) t.match(await responseOf(status, {}), { step: 9, error }, `${status}`)
})

await t.test('JSON has the content type application/json, with any parameters', async (t) => {
  for (const [type, expected] of [
    ['application/json', { ok: true }], ['Application/JSON; charset=utf-8', { ok: true }],
    ['text/json', { error: 'not_json' }], ['application/problem+json', { error: 'not_json' }],
    ['application/json-seq', { error: 'not_json' }]
  ] as const) {
    const body = { token_type: 'Bearer', access_token: 'the-token' }
    const baseUrl = await responding(t, 200, body, { 'Content-Type': type })
    t.match(await portal({ baseUrl, ...SETTINGS }).token('abcdef'), expected, type)
  }
})

await t.test('a long explanation is cut', async (t) => {
  const baseUrl = await responding(t, 400, { error: 'invalid_grant', error_description: 'x'.repeat(10_000) })
  t.match(await portal({ baseUrl, ...SETTINGS }).token('abcdef'), {
    error: 'invalid_grant', got: /^400 with the error invalid_grant \(x{160}…\)$/
  })
})

await t.test('a bad option is named', async (t) => {
  const app = partner()
  for (const [changes, sentence] of [
    [{ clientId: '' }, 'portal(): option "clientId" must be a non-empty string'],
    [{ clientSecret: undefined }, '"clientSecret"'],
    [{ redirectUri: '/callback' }, '"redirectUri" must be an absolute URL'],
    ...[0, -1, NaN, Infinity].map((timeout) => [{ timeout }, '"timeout" must be a positive number']),
    [{ level: 'boss' }, '"level" must be \'partner\' or \'client\''],
    [{ clientAuthentication: 'none' }, '"clientAuthentication" must be \'form\' or \'basic\''],
    [{ app: undefined }, '"app" must be a Fastify app, or baseUrl'],
    [{ baseUrl: 'http://localhost' }, 'exactly one'],
    [{ app: undefined, baseUrl: 'ftp://localhost' }, '"baseUrl" must be an absolute http'],
    [{ app: undefined, baseUrl: 'http://localhost#x' }, 'without query and fragment']
  ] as Array<[object, string]>) {
    t.throws(() => portal({ app, ...SETTINGS, ...changes }), { name: 'TypeError', message: sentence }, sentence)
  }
})

t.test('an exchange without a response says why, or where a browser went', async (t) => {
  const request = { method: 'GET', url: 'https://portal.example/callback?error=access_denied&x=1', headers: [] }
  const networkError = { code: 'timeout', sentence: 'No response within 5 s.' } as const
  t.equal(describe({ request, networkError, milliseconds: 5000 }), 'No response within 5 s.')
  t.equal(describe({ request, milliseconds: 0 }),
    'a redirect to https://portal.example/callback with the error access_denied')
})
