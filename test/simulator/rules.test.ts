// Rules one by one, on a service that answers some requests in an unusual way.
import t from 'tap'
import { RULES } from '../../lib/simulator/rules/all.ts'
import { policiesOf } from '../../lib/simulator/rules/content-security-policy.ts'
import { loginPageOf } from '../../lib/simulator/rules/login-page.ts'
import { CODE_RULE, LEG_RULES } from '../../lib/simulator/rules/sign-in-rules.ts'
import type { Integration } from '../../lib/testing/settings.ts'
import type { Exchange, WireRequest, WireResponse } from '../../lib/testing/wire.ts'
import { SETTINGS } from '../helpers/spec-server.ts'
import { altered, isAuthorize, isToken, isUser, json, redirect, tried, verdict } from './trial.ts'
import type { Answer } from './trial.ts'

await t.test('each rule says where it is written, what a correct service does, and what to do', (t) => {
  const subjects = ['SameSite', 'addresses', 'login', 'single use', 'user information record']
  const section = /^(?:RFC \d{4}|CSP Level 3) §[\d.]+(?:, §[\d.]+)*$/
  for (const { id, section: where, sentence, fix } of RULES) {
    t.match(id, /^(?:address|authorize|login|service|token|user)\.[a-z-]+$/)
    t.ok(section.test(where) || subjects.includes(where), `${id}: ${where}`)
    t.match(sentence, /^\S.{9,}\.$/, `${id}: ${sentence}`)
    t.match(fix, /^\S.{9,}\.$/, `${id}: ${fix}`)
  }
  t.equal(new Set(RULES.map(({ id }) => id)).size, RULES.length, 'no identifier twice')
  t.end()
})

await t.test('a rule is not tried after one has failed that explains its failure', (t) => {
  const ids = RULES.map(({ id }) => id)
  const causesOf = (id: string): readonly string[] => RULES.find((rule) => rule.id === id)?.after ?? []
  for (const [index, id] of ids.entries()) {
    t.equal(causesOf(id).includes('address.endpoints'), index > 0, id)
    for (const cause of causesOf(id)) t.ok(ids.indexOf(cause) >= 0 && ids.indexOf(cause) < index, `${cause}, ${id}`)
  }
  const signIn = [CODE_RULE, ...LEG_RULES].map(({ id }) => id)
  for (const [index, id] of signIn.entries()) {
    t.strictSame(signIn.filter((other) => causesOf(id).includes(other)), signIn.slice(0, index), id)
  }
  t.end()
})

const LEGS = ['authorize.answer', 'token.body', 'token.hook', 'token.answer']

await t.test('token.body: a form is never answered, a request without body is', async (t) => {
  const isForm = ({ method, body }: WireRequest) => method === 'POST' && body !== undefined
  const { findings } = await tried(LEGS, await altered((request) => isForm(request) ? 'silence' : null))
  t.match(findings.find(({ rule: { id } }) => id === 'token.body')?.result, {
    outcome: 'fail',
    got: /^The service gave no complete response within 5 s to a form; a request without body gets 4\d\d with/
  })
  t.match(findings.find(({ rule: { id } }) => id === 'token.answer')?.result, {
    outcome: 'untested', reason: 'token.body fails'
  })
})

await t.test('token.body: one form is answered late, or the whole endpoint is silent: no finding', async (t) => {
  let forms = 0
  const once = (request: WireRequest): Answer => isToken(request) && ++forms === 1 ? 'silence' : null
  const { findings } = await tried(LEGS, await altered(once))
  t.match(findings.find(({ rule: { id } }) => id === 'token.body')?.result, { outcome: 'untested' })
  const silent = await tried(LEGS, await altered((request) => isToken(request) ? 'silence' : null))
  t.strictSame(silent.findings.filter(({ result: { outcome } }) => outcome === 'fail'), [])
  t.match(silent.stopped, /gave no complete response/)
})

await t.test('a client secret that the service repeats is hidden in the verdict', async (t) => {
  const repeats = await altered((request) => isToken(request)
    ? json(400, { error: 'invalid_client', error_description: `The secret ${SETTINGS.clientSecret} is wrong` })
    : null)
  t.match(await verdict('token.answer', repeats), { outcome: 'fail', got: /\(The secret •••••••• is wrong\)$/ })
})

await t.test('a code that was never redeemed is hidden too, when the service repeats it', async (t) => {
  let codes = 0
  const repeats = await altered(({ url, ...request }) => {
    if (isAuthorize({ url, ...request })) {
      const state = String(new URL(url).searchParams.get('state'))
      const code = `the-code-with-the-number-${++codes}`
      return redirect(`${SETTINGS.redirectUri}?${new URLSearchParams({ code, state })}`)
    }
    const description = 'There were the-code-with-the-number-1 and the-code-with-the-number-2'
    return isToken({ url, ...request }) ? json(400, { error: 'invalid_grant', error_description: description }) : null
  })
  const { findings } = await tried(['authorize.fresh-code', 'token.basic'], repeats)
  t.ok(codes > 2)
  t.match(findings.map(({ result }) => result), [
    { outcome: 'pass' }, { outcome: 'fail', got: /\(There were •••••••• and ••••••••\)/ }
  ])
})

await t.test('nor does the first answer of all show the client secret', async (t) => {
  const dump = await altered(() => json(404, { error: 'server_error', error_description: SETTINGS.clientSecret }))
  t.match(await verdict('address.endpoints', dump), { got: /\(••••••••\)/ })
})

await t.test('no code: what is to be registered, or what the service said', async (t) => {
  const uri = `Register exactly ${SETTINGS.redirectUri} at the service, or give the registered one with --redirect-uri.`
  const client = `Register the client_id ${SETTINGS.clientId} at the service, ` +
    'or give the registered one with --client-id.'
  for (const [description, fix] of [
    ['The redirect_uri is unknown.', uri], ['The client_id is unknown.', client], ['No.', `${uri} ${client}`]
  ] as const) {
    const refusing = await altered((request) => isAuthorize(request)
      ? json(400, { error: 'invalid_request', error_description: description })
      : null)
    t.match(await verdict('authorize.answer', refusing), { outcome: 'fail', fix })
  }
  const broken = await altered((request) => isAuthorize(request) && request.headers.some(([name]) => name === 'Cookie')
    ? redirect(`${SETTINGS.redirectUri}?error=server_error&state=${new URL(request.url).searchParams.get('state')}`)
    : null)
  t.match(await verdict('authorize.answer', broken), {
    outcome: 'fail', got: 'the error server_error', fix: /^See the error log of the service/
  })
})

await t.test('headers that the answer lacks are named', async (t) => {
  const bare = await altered((request) => isAuthorize(request) && request.url.includes('client_id')
    ? redirect(`${SETTINGS.redirectUri}?code=abcdef&state=${new URL(request.url).searchParams.get('state')}`)
    : isAuthorize(request) ? { status: 400 } : null)
  t.match(await verdict('authorize.referrer', bare), { outcome: 'fail', got: 'no Referrer-Policy' })
  t.match(await verdict('authorize.framing', bare), {
    outcome: 'fail', got: 'neither frame-ancestors nor X-Frame-Options'
  })
  t.match(await verdict('authorize.no-store', bare), { outcome: 'fail', got: 'no Cache-Control' })
  const refused = (headers: Array<[string, string]>) => altered((request) => isToken(request)
    ? { status: 400, headers: [['Content-Type', 'application/json'], ...headers], body: '{"error":"invalid_client"}' }
    : null)
  t.match(await verdict('token.client-challenge', await refused([])), {
    outcome: 'fail', got: /^400 .*invalid_client, no WWW-Authenticate: Basic$/
  })
  t.match(await verdict('token.client-challenge', await refused([['WWW-Authenticate', 'Basic']])), {
    outcome: 'fail', got: /^400 .*invalid_client$/
  })
})

await t.test('headers that say the wrong thing are shown', async (t) => {
  const lax = await altered((request) => isAuthorize(request) && request.url.includes('client_id')
    ? {
        status: 302,
        headers: [
          ['Location', `${SETTINGS.redirectUri}?code=abcdef&state=${new URL(request.url).searchParams.get('state')}`],
          ['Cache-Control', 'private'], ['Referrer-Policy', 'unsafe-url']
        ]
      }
    : null)
  t.match(await verdict('authorize.no-store', lax), { outcome: 'fail', got: 'Cache-Control: private' })
  t.match(await verdict('authorize.referrer', lax), { outcome: 'fail', got: 'Referrer-Policy: unsafe-url' })
})

await t.test('authorize.cors: of each method', async (t) => {
  for (const method of ['GET', 'OPTIONS']) {
    const open = await altered((request) => isAuthorize(request) && request.method === method
      ? { headers: [['Access-Control-Allow-Origin', '*']] }
      : null)
    t.match(await verdict('authorize.cors', open), {
      outcome: 'fail', got: `${method}: Access-Control-Allow-Origin: *`
    })
  }
})

const REGISTERED = SETTINGS.redirectUri
const CASES: Array<[rule: string, name: string, values: string[]]> = [
  ...[
    'https://foreign.example/callback', `${REGISTERED}/more`, `${REGISTERED}?more=1`,
    REGISTERED.replace('://', '://foreign.example@')
  ].map((uri): [string, string, string[]] => ['authorize.foreign-redirect-uri', 'redirect_uri', [uri]]),
  ['authorize.response-type', 'response_type', []],
  ['authorize.response-type', 'response_type', ['unknown']],
  ['authorize.repeated', 'client_id', [SETTINGS.clientId, SETTINGS.clientId]],
  ['authorize.repeated', 'redirect_uri', [REGISTERED, REGISTERED]],
  ['authorize.repeated', 'response_type', ['code', 'code']],
  ['authorize.repeated', 'state', ['one', 'two']]
]

await t.test('a service that lets one case of a rule through fails', async (t) => {
  for (const [rule, name, values] of CASES) {
    const lenient = await altered((request) => {
      const { searchParams } = new URL(request.url)
      if (!isAuthorize(request) || searchParams.getAll(name).join() !== values.join()) return null
      const back = new URL(String(searchParams.get('redirect_uri')))
      back.searchParams.set('code', 'a-code-of-the-service-that-is-long')
      back.searchParams.set('state', String(searchParams.get('state')))
      return redirect(back.href)
    })
    t.match(await verdict(rule, lenient), { outcome: 'fail' }, `${rule}: ${name}=${values.join()}`)
  }
})

await t.test('a callback with a query of its own: one more parameter makes it a foreign address', async (t) => {
  const redirectUri = `${REGISTERED}?tenant=1`
  const more = `${redirectUri}&more=1`
  const { changes } = await altered((request) => {
    const uri = String(new URL(request.url).searchParams.get('redirect_uri'))
    return uri === more ? redirect(uri) : null
  })
  t.match(await verdict('authorize.foreign-redirect-uri', { changes: { ...changes, redirectUri } }), {
    outcome: 'fail', got: `with redirect_uri=${more}: 302`
  })
})

await t.test('service.one-store: a code, then none, then a code', async (t) => {
  let asked = 0
  const forgetful = await altered((request) =>
    isAuthorize(request) && [2, 3].includes(++asked) ? json(401, { error: 'login_required' }) : null)
  t.match(await verdict('service.one-store', forgetful), {
    outcome: 'fail', got: /: GET \/oauth\/authorize: 401 .*, then a code$/
  })
})

await t.test('service.one-store: a code that is refused, then accepted', async (t) => {
  let redeemed = 0
  const forgetful = await altered((request) =>
    isToken(request) && ++redeemed === 1 ? json(400, { error: 'invalid_grant' }) : null)
  t.match(await verdict('service.one-store', forgetful), {
    outcome: 'fail', got: /: POST \/oauth\/token: 400 .*, then 200/
  })
})

await t.test('service.one-store: an endpoint without response leaves the other rules, a limit ends them', async (t) => {
  const silent = await altered((request) => isToken(request) ? 'silence' : null)
  t.match(await verdict('service.one-store', silent), { outcome: 'untested', stopped: undefined })
  const limited = await altered((request) => isToken(request) ? { status: 429 } : null)
  t.match(await verdict('service.one-store', limited), { stopped: /limits the rate/ })
})

await t.test('a redirect to a foreign address is seen without a code, and one by 307', async (t) => {
  const astray = await altered((request) => isAuthorize(request)
    ? redirect(String(new URL(request.url).searchParams.get('redirect_uri')))
    : null)
  t.match(await verdict('authorize.foreign-redirect-uri', astray), { outcome: 'fail' })
  const repeats = await altered((request) => {
    if (!isAuthorize(request)) return null
    const state = String(new URL(request.url).searchParams.get('state'))
    const location = `${REGISTERED}?${new URLSearchParams({ code: 'a-code-of-the-service', state })}`
    return { status: 307, headers: [['Location', location]] }
  })
  t.match(await verdict('authorize.temporary-redirect', repeats), { outcome: 'fail', got: '307' })
})

await t.test('a service that lets one kind of unknown token through fails', async (t) => {
  const authorization = ({ headers }: WireRequest): string =>
    headers.find(([name]) => name === 'Authorization')?.[1] ?? ''
  const kinds: Array<[name: string, is: (token: string) => boolean]> = [
    ['no JWT', (token) => !token.includes('.')],
    ['an unsigned JWT', (token) => token.startsWith('Bearer eyJ')]
  ]
  for (const [name, is] of kinds) {
    const lenient = await altered((request) => isUser(request) && is(authorization(request))
      ? json(200, { external_id: '1' })
      : null)
    t.match(await verdict('user.unknown-token', lenient), { outcome: 'fail' }, name)
  }
})

const HTTPS = ['address.https', 'address.redirect-uri-https']
const outcomes = async (changes: Partial<Integration>): Promise<string[]> =>
  (await tried(HTTPS, { changes })).findings.map(({ rule: { id }, result: { outcome } }) => `${id} ${outcome}`)

await t.test('http is for this machine only, at the service as at the portal', async (t) => {
  t.strictSame(await outcomes({ base: new URL('http://partner.example') }), [
    'address.https fail', 'address.redirect-uri-https pass'
  ])
  t.strictSame(await outcomes({ redirectUri: 'http://portal.example/cb' }), [
    'address.https pass', 'address.redirect-uri-https fail'
  ])
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000', 'https://partner.example']) {
    t.strictSame(await outcomes({ base: new URL(origin), redirectUri: `${origin}/cb` }), [
      'address.https pass', 'address.redirect-uri-https pass'
    ], origin)
  }
})

await t.test('what is no finding: there is nothing to judge', async (t) => {
  const page = await altered((request) => isAuthorize(request) ? { status: 200, body: 'a page' } : null)
  t.match(await verdict('authorize.state', page), { outcome: 'untested', reason: /^there is no redirect to the port/ })
  t.match(await verdict('authorize.fresh-code', page), { outcome: 'untested', reason: /^there is no code: 200/ })
  t.match(await verdict('token.hook', page), { outcome: 'untested', reason: /^there is no code: / })
  t.match(await verdict('user.hook', page), { outcome: 'untested', reason: /^there is no code: / })
  const denied = await altered((request) =>
    isAuthorize(request) ? redirect(`${SETTINGS.redirectUri}?error=access_denied`) : null)
  t.match(await verdict('authorize.fresh-code', denied), {
    outcome: 'untested', reason: 'there is no code: the error access_denied'
  })
  t.match(await verdict('authorize.access-denied', { ineligible: 'nobody=1' }), {
    outcome: 'untested', reason: 'the cookie of --ineligible-cookie logs nobody in'
  })
  t.match(await verdict('token.code-lifetime'), { outcome: 'untested', reason: 'it needs --code-lifetime' })
  const noToken = await altered((request) => isToken(request) ? json(400, { error: 'invalid_grant' }) : null)
  t.match(await verdict('user.replayed-token', noToken), {
    outcome: 'untested', reason: /^there is no access token: 400/
  })
  t.match(await verdict('token.no-store', noToken), { outcome: 'untested', reason: /^there is no access token: 400/ })
  t.match(await verdict('token.race', noToken), { outcome: 'untested', reason: /^no request won one of 9 races/ })
  const noRecord = await altered((request) => isUser(request) ? json(500, {}) : null)
  t.match(await verdict('user.no-store', noRecord), { outcome: 'untested', reason: /^there is no record: 500/ })
  const noJson = await altered((request) => isUser(request) ? { body: 'a page' } : null)
  t.match(await verdict('user.listed-fields', noJson), { outcome: 'pass' })
  const back = (url: string): Answer => redirect(`/login?return_to=${encodeURIComponent(url)}`)
  const elsewhere = await altered((request) =>
    isAuthorize(request) && !request.headers.some(([name]) => name === 'Cookie')
      ? back('https://www.partner.example/oauth/authorize?x=1')
      : null)
  t.match(await verdict('login.return', elsewhere), {
    outcome: 'untested', reason: 'the login page returns to https://www.partner.example, not to the base URL'
  })
})

await t.test('an error with a status of success is advice', async (t) => {
  const token = await altered((request) => isToken(request) ? json(200, { error: 'invalid_grant' }) : null)
  t.match(await verdict('token.unknown-code', token), { outcome: 'fail', severity: 'should', fix: /400 or 401/ })
  const user = await altered((request) => isUser(request) ? json(200, { error: 'invalid_token' }) : null)
  t.match(await verdict('user.unknown-token', user), { outcome: 'fail', severity: 'should', fix: /400 or 401/ })
})

await t.test('an error redirect without state', async (t) => {
  const lost = await altered((request) =>
    isAuthorize(request) ? redirect(`${SETTINGS.redirectUri}?error=unsupported_response_type`) : null)
  t.match(await verdict('authorize.error-redirect', lost), { outcome: 'fail', got: /^no state: 302/ })
})

await t.test('a limited rate and an unavailable service leave the check incomplete', async (t) => {
  const limited = await altered((request) => isToken(request) ? { status: 429 } : null)
  t.match(await verdict('address.endpoints', limited), { stopped: /limits the rate/ })
  const late = await altered((request) => {
    if (!isToken(request) || request.body === undefined) return null
    return request.body.includes('no-such-grant') ? { status: 429 } : 'silence'
  })
  t.match(await verdict('token.body', late), { stopped: /limits the rate/ })
  const restarting = await altered((request) => isToken(request) ? { status: 503 } : null)
  t.match(await verdict('token.answer', restarting), { outcome: 'untested', stopped: /unavailable for the mom.*: 503/ })
  const down = await altered((request) =>
    isAuthorize(request) ? redirect(`${SETTINGS.redirectUri}?error=temporarily_unavailable`) : null)
  t.match(await verdict('authorize.answer', down), { outcome: 'untested', stopped: /unavailable for the moment: 302/ })
})

await t.test('token.body: the endpoint does read the form, and finds another error in it', async (t) => {
  const picky = await altered((request) => {
    if (!isToken(request)) return null
    return json(400, { error: request.body?.includes('no-such') ? 'unsupported_grant_type' : 'invalid_request' })
  })
  t.match(await verdict('token.body', picky), { outcome: 'pass' })
})

await t.test('a service so slow that a code may expire on the way is not judged', async (t) => {
  const real = performance.now.bind(performance)
  let passed = 0
  performance.now = () => real() + passed
  t.teardown(() => { performance.now = real })
  const slow = (answer: (request: WireRequest) => Answer) => altered((request) => {
    passed += 1000
    return answer(request)
  })
  const sentence = 'the service is so slow that a code may expire before it is used'
  const expired = await slow((request) => isToken(request) ? json(400, { error: 'invalid_grant' }) : null)
  t.match(await verdict('token.answer', expired), { outcome: 'untested', reason: sentence })
  t.match(await verdict('token.basic', expired), { outcome: 'untested', reason: sentence })
  for (const late of [1, 2]) {
    let forms = 0
    const atFirst = await slow((request) =>
      isToken(request) && ++forms <= late ? json(400, { error: 'invalid_grant' }) : null)
    t.match(await verdict('token.answer', atFirst), { outcome: 'pass' }, 'another round may be quick enough')
  }
})

await t.test('a check that has ended tries no rule', async (t) => {
  const { findings, stopped } = await tried(LEGS, { signal: AbortSignal.abort(new Error('The end.')) })
  t.strictSame([findings, stopped], [[], 'The end.'])
})

await t.test('forms and policies of a login page, however they are written', (t) => {
  const body = '<form action=\'/a\'><form action=/b><form action="/c"><form><meta http-equiv=Content-Security-Policy>'
  const response: WireResponse = { status: 200, headers: [], body }
  const url = 'http://localhost/login'
  const exchange: Exchange = { request: { method: 'GET', url, headers: [] }, response, milliseconds: 0 }
  t.strictSame(loginPageOf({ at: 'page', exchange, url })?.actions, ['/a', '/b', '/c', ''])
  t.strictSame(policiesOf(response), ['', ''], 'neither a header nor a content')
  const meta = '<META content=\'form-action "a"\' http-equiv=Content-Security-Policy>'
  t.strictSame(policiesOf({ ...response, body: meta }), ['', 'form-action "a"'])
  t.end()
})
