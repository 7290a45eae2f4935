// Verdicts of single rules on a service that gives some responses of its own: what each says, and how certain it is.
import t from 'tap'
import type { Headers, WireRequest } from '../../lib/flow/wire.ts'
import { MISTAKES } from '../helpers/mistakes.ts'
import { CLIENT_ID, CLIENT_SECRET, json, RECORDS, REDIRECT_URI } from '../helpers/service.ts'
import type { Parts, Reply } from '../helpers/service.ts'
import {
  atAuthorize, atLogin, atToken, atUser, error, first, loggedOut, page, pathOf, redirect, tried, valueOf, verdict
} from './trial.ts'
import type { Alteration, Trial } from './trial.ts'

type Case = [rule: string, trial: Trial | Alteration, expected: object]

const PASS = { outcome: 'pass' }
const failed = (got: string | RegExp, more: object = {}) => ({ outcome: 'fail', got, ...more })
const advised = (got: string | RegExp, more: object = {}) => failed(got, { severity: 'should', ...more })
const certain = (got: string | RegExp, more: object = {}) => failed(got, { severity: 'must', ...more })
const fixed = (fix: string | RegExp) => ({ outcome: 'fail', fix })
const inBrowser = (reason: string) =>
  untested(`${reason}: sign in once in a browser, by partner-sso-portal serve`)
const untested = (reason: string | RegExp = /./) => ({ outcome: 'untested', reason })
const stopped = (sentence: RegExp) => ({ stopped: sentence })

/** These replies to the first requests, then those of the service. */
function atFirst (replies: Reply[]): Alteration {
  let count = 0
  return () => replies[count++] ?? null
}

/** To the portal, as a reply to the request. */
const back = (parameters: Record<string, string>, to = REDIRECT_URI): Alteration => (request) =>
  redirect(`${to}?${new URLSearchParams({ state: valueOf(request, 'state'), ...parameters })}`)
const issues = (headers: Array<[string, string]>, status = 302): Alteration => (request) => {
  const location = `${REDIRECT_URI}?${new URLSearchParams({ code: 'the-code', state: valueOf(request, 'state') })}`
  return { status, headers: [['Location', location], ...headers] }
}
const toLogin = (returnTo: string, headers: Headers = []): Reply =>
  redirect(`/login?return_to=${encodeURIComponent(returnTo)}`, headers)
const noLogin: Alteration = (request) => pathOf(request).endsWith('/login') ? { status: 404 } : null
const toItself: Alteration = ({ url }) => toLogin(url)
const withLogin = (reply: Reply | Alteration) => first(loggedOut(toItself), atLogin(reply))
const isForm = ({ method, body }: WireRequest) => method === 'POST' && body !== undefined
const cookies = (...lines: string[]) => lines.map((line): [string, string] => ['Set-Cookie', line])
const setting = (line: string): Trial => ({ reply: atAuthorize(redirect('/login', cookies(line))), cookie: '' })
/** The return address is for the browser alone that has this cookie from before the login. */
const bound = (name: string, query: string): Alteration => first(
  loggedOut(toLogin(`/oauth/authorize${query}`, cookies(`${name}=1; Path=/`))),
  (request) => {
    if (!request.url.endsWith(query)) return null
    const sent = String(request.headers.find(([name]) => name === 'Cookie'))
    return sent.includes(`${name}=1`) && sent.includes('sid=ada') ? back({ code: 'a-code' })(request) : { status: 400 }
  })
const cutsState = atAuthorize((request) => {
  const state = valueOf(request, 'state').slice(0, 255)
  return redirect(`${REDIRECT_URI}?${new URLSearchParams({ code: 'a-code', state })}`)
})
const awayTo = (user: string, anybody: string) => first(loggedOut(redirect(anybody)), atAuthorize(redirect(user)))

const uri = `Register exactly ${REDIRECT_URI} at the service, or give the registered one with --redirect-uri.`
const client = `Register the client_id ${CLIENT_ID} at the service, or give the registered one with --client-id.`
const STRIPPED = /: a proxy strips \/app, and the application does not know of it\. Give loginPage as a function/
const SLOW = 'The service gave no complete response within 5 s'
const SCRIPTED = { loginPage: () => '<form method=post><input name=user></form><script src="/login.js"></script>' }
const POLICY = '<meta http-equiv="Content-Security-Policy" content="form-action \'self\'">'
const POLICY_IN_PAGE = { loginPage: () => `${POLICY}<form method=post><input name=user></form>` }
const STRICT = 'sid=ada; SameSite=Strict'

const VERDICTS: Record<string, Case[]> = {
  'endpoints that are elsewhere, or not there': [
    ['address.endpoints', { parts: { prefix: '/api/v1' }, baseUrl: 'http://localhost' },
      fixed(/found at http:\/\/localhost\/api\/v1\/oauth\/authorize .*: give http:\/\/localhost\/api\/v1 /)],
    ['address.endpoints', { parts: { prefix: '/sso' }, baseUrl: 'http://localhost' }, fixed(/localhost\/sso /)],
    ['address.endpoints', { baseUrl: 'http://localhost/app' }, failed(/^GET \/app\/oauth\/authorize: 404/, {
      fix: /^The endpoint was found at http:\/\/localhost\/oauth\/authorize/
    })],
    ['address.endpoints', { baseUrl: 'http://localhost/app', reply: atAuthorize(json(500, {})) },
      fixed(/^Check the base URL/)],
    ['address.endpoints', { parts: MISTAKES.spa }, failed(/^POST \/oauth\/token: 200 with text\/html/)],
    ['address.endpoints', loggedOut(page('<form method=post>')), PASS],
    ...[404, 405].flatMap((status): Case[] => {
      const absent: Reply = { status }
      const knownClient = atAuthorize(({ url }) => url.includes(`client_id=${CLIENT_ID}&`) ? null : absent)
      const anyCode = (reply: Reply) => atToken(({ body = '' }) => body.includes('&code=') ? reply : absent)
      const anyToken = atUser(({ headers }) => headers.some(([name]) => name === 'Authorization') ? null : absent)
      return [
        ['address.endpoints', atToken(absent), failed(new RegExp(`^POST /oauth/token: ${status}`))],
        ['address.endpoints', atUser(absent), failed(new RegExp(`^GET /oauth/user: ${status}`))],
        // A service may respond so to an unknown client, code or token.
        ...[knownClient, anyCode(null), anyCode('silence'), anyToken].map((reply): Case =>
          ['address.endpoints', reply, PASS]),
        ['address.endpoints', first(anyCode(null), atUser(absent)), failed(new RegExp(`^GET /oauth/user: ${status}`))]
      ]
    })
  ],
  'http is for this machine only, at the service as at the portal': [
    ['address.https', { baseUrl: 'http://partner.example' }, failed('the base URL is http://partner.example/')],
    ['address.redirect-uri-https', { redirectUri: 'http://portal.example/cb' }, failed(/http:\/\/portal\.example\/cb/)],
    ...['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000', 'https://partner.example'].flatMap(
      (baseUrl): Case[] => [
        ['address.https', { baseUrl }, PASS], ['address.redirect-uri-https', { redirectUri: `${baseUrl}/cb` }, PASS]
      ])
  ],
  'a login page on http: certain behind an https address, advice behind an http one': [
    ['address.no-downgrade', loggedOut(redirect('http://login.partner.example/')), advised(/^a redirect to/)],
    ['address.no-downgrade', {
      reply: loggedOut(redirect('http://login.partner.example/')), baseUrl: 'https://partner.example'
    }, certain('a redirect to http://login.partner.example/')],
    ['address.no-downgrade', {
      reply: loggedOut(redirect('http://partner.example/login')), baseUrl: 'https://partner.example'
    }, certain('a redirect to http://partner.example/login')]
  ],
  'a hook in front of the authorization endpoint is not taken for an unknown user': [
    ['authorize.hook', { parts: MISTAKES['login-hook'], cookie: 'stale=1' },
      failed('401 with the error Unauthorized (Log in first), also for a request without client_id', {
        fix: /^Exempt \/oauth\/authorize, \/oauth\/token and \/oauth\/user from .* global hooks/
      })],
    // The service may know its users by a header, which a proxy sets.
    ['authorize.hook', { parts: MISTAKES['login-hook'], cookie: '' },
      stopped(/^A hook of the application responds in front of .* make a user known with --cookie or --header$/)],
    ['authorize.hook', { parts: MISTAKES['login-hook'], cookie: '', headers: [['x-user', 'ada']] },
      stopped(/if it reads the header x-user, give a value that it accepts$/)],
    ['authorize.hook', atAuthorize((request) => request.url.includes('client_id') ? { status: 401 } : null), PASS],
    ['authorize.hook', atAuthorize({ status: 401, headers: [['WWW-Authenticate', 'Basic']] }), PASS],
    ['authorize.hook', atAuthorize({ status: 401, headers: [['Content-Type', 'text/html']] }), PASS]
  ],
  'service.one-store: another response to the same request': [
    ['service.one-store', atAuthorize(atFirst([null, error(401, 'login_required'), error(401, 'login_required')])),
      failed(/: GET \/oauth\/authorize: 401 .*, then a code$/)],
    ...[400, 401, 403].flatMap((status): Case[] => [
      ['service.one-store', atToken(atFirst([error(status, 'invalid_grant')])),
        failed(new RegExp(`: POST /oauth/token: ${status} .*, then 200`))],
      ['service.one-store', atUser(atFirst([error(status, 'invalid_token')])),
        failed(new RegExp(`: GET /oauth/user: ${status} .*, then 200`))]
    ]),
    ['service.one-store', atUser(atFirst([json(500, {})])), PASS],
    ['service.one-store', atToken('silence'), { ...untested(), stopped: undefined }],
    ['service.one-store', atToken({ status: 429 }), stopped(/limits the rate/)]
  ],
  'no code: what is to be registered, or what the service said': [
    ['authorize.code', atAuthorize(error(400, 'invalid_request', 'The redirect_uri is unknown.')), fixed(uri)],
    ['authorize.code', atAuthorize(error(400, 'invalid_request', 'The client_id is unknown.')), fixed(client)],
    ['authorize.code', atAuthorize(error(400, 'invalid_request', 'No.')), fixed(`${uri} ${client}`)],
    ['authorize.code', first(loggedOut(redirect('/login')), atAuthorize(back({ error: 'server_error' }))),
      failed('the error server_error', { fix: /^See the error log of the service/ })]
  ],
  'the registered redirect_uri is found where it differs in one thing, which is named': [
    ...Object.entries({
      [`${REDIRECT_URI}/`]: 'trailing slash',
      [REDIRECT_URI.replace('http:', 'https:')]: 'scheme',
      [REDIRECT_URI.replace('localhost', '127.0.0.1')]: 'host',
      [REDIRECT_URI.replace('localhost', 'www.localhost')]: 'host',
      [REDIRECT_URI.replace('callback', 'Callback')]: 'case',
      [`${REDIRECT_URI}?a=b`]: 'query',
      [REDIRECT_URI.replace('callback', 'c%61llback')]: 'encoding'
    }).map(([redirectUri, difference]): Case => ['authorize.code', { redirectUri },
      failed(new RegExp(`; the service accepts ${REDIRECT_URI}$`), { fix: new RegExp(`^The ${difference} differs`) })]),
    ['authorize.code', {
      parts: { redirectUri: 'http://localhost:4180/oauth/ä' }, redirectUri: 'http://localhost:4180/oauth/%C3%A4'
    }, fixed(/^The encoding differs\. /)],
    ['authorize.code', { parts: { redirectUri: `${REDIRECT_URI}/?a=b` }, redirectUri: `${REDIRECT_URI}?a=b` },
      fixed(/^The trailing slash differs\. /)],
    ...[`${REDIRECT_URI}/`, REDIRECT_URI.replace('http:', 'https:'), REDIRECT_URI.replace('localhost', '127.0.0.1')]
      .map((redirectUri): Case => ['authorize.code', { parts: { redirectUri } },
        failed(new RegExp(`; the service accepts ${redirectUri}$`), { fix: /^The (?:trailing slash|scheme|host) / })]),
    ...['http://localhost:4180/oauth/other', 'http://localhost:4180/%ff'].map((redirectUri): Case =>
      ['authorize.code', { redirectUri }, fixed(/^Register exactly/)])
  ],
  'the user is unknown, or is refused': [
    ['authorize.code', { cookie: 'other=1' },
      stopped(/^The cookie other was sent and logs nobody in: has it expired, .*\? \(200 with text\/html/)],
    ['authorize.code', { cookie: 'stale-session' },
      stopped(/^The cookie stale-session was sent .*: stale-session has no value; is there no = in it\?/)],
    ['authorize.code', { cookie: 'sid=', parts: MISTAKES['login-loop'] },
      stopped(/^The cookie sid .*: sid has no value/)],
    ['authorize.code', { cookie: 'sid=ada; Path=/shop' },
      stopped(/^The cookie sid was not sent: its Path or Secure does not fit http:/)],
    ['authorize.code', { cookie: 'Set-Cookie: a=1; Path=/\nSet-Cookie: sid=ada; Path=/shop' }, stopped(
      /^The cookie a was sent and logs nobody in: sid was not sent: its Path .* http:\S+authorize \(/)],
    ['authorize.code', { cookie: '', headers: [['x-user', 'ada']] },
      stopped(/^The header x-user was sent and logs nobody in/)],
    ['authorize.code', { cookie: 'sid=eve' },
      stopped(/^The service refuses this user \(302 .*access_denied.*\): make a user known who may enter/)],
    ['authorize.code', {
      reply: atAuthorize({ status: 401, headers: [['Content-Type', 'text/html'], ...cookies('session=1', 'csrf=2')] }),
      cookie: 'sid=old'
    }, stopped(/^The cookie sid was sent and logs nobody in: .*; the service itself sets session, csrf\?/)],
    ['authorize.code', awayTo('https://sorry.example/', 'https://login.example/'),
      stopped(/^The service refuses this user \(302/)],
    ['authorize.code', awayTo('https://login.example/?number=2', 'https://login.example/?number=1'),
      stopped(/^The cookie sid was sent and logs nobody in/)],
    ['authorize.code', atAuthorize(back({ error: 'login_required' })), stopped(/login_required/)],
    ['authorize.code', atAuthorize(back({ error: 'access_denied', error_description: 'No \x1b[31m.' })),
      stopped(/^\P{Cc}*No \\u001b\[31m\.\P{Cc}*$/u)],
    ['authorize.code', first(loggedOut(back({ error: 'access_denied', error_description: 'Log in.' })),
      atAuthorize(back({ error: 'access_denied', error_description: 'Not eligible.' }))),
    stopped(/^The service refuses this user \(302/)],
    ['authorize.code', atAuthorize(redirect(
      `${REDIRECT_URI}?error=access_denied&error_description=The user may not enter the portal.`
    )), stopped(/^The service takes every browser for a user who may not enter, also one without cookies: see whether/)]
  ],
  'login.page: a user who is not logged in ends nowhere': [
    ['login.page', { parts: MISTAKES['login-loop'] }, failed('redirects that do not end')],
    ['login.page', loggedOut(back({ error: 'access_denied' })), untested(/^the service has no login page/)],
    ['login.page', loggedOut({ status: 403, body: 'No.' }), {
      severity: 'should', ...fixed(/^A user who is not logged in has no way to log in here: /)
    }],
    ...['http://localhost', 'http://localhost/app'].map((baseUrl): Case => ['login.page', {
      reply: first(loggedOut(redirect('/login')), noLogin), baseUrl
    }, certain(/^404 .* at \/login$/, { fix: 'Create the login page, or correct the option loginPage.' })]),
    ['login.page', { reply: loggedOut(redirect('/login')), parts: { prefix: '/app' } }, fixed(STRIPPED)],
    ['login.page', {
      reply: first(loggedOut(redirect('/app-login')), (request) => pathOf(request) === '/app/app-login' ? {} : null),
      parts: { prefix: '/app' }
    }, fixed(STRIPPED)]
  ],
  'login.cookie: a Strict cookie, unless the page without it may reload itself': [
    ['login.cookie', { reply: loggedOut(page('<form method=post>')), cookie: STRICT },
      certain(/^SameSite=Strict on sid; without it 200/)],
    ['login.cookie', { reply: loggedOut({ status: 401 }), cookie: STRICT }, certain(/; without it 401/)],
    ...['<script>location.reload()', '<body onload="reload()">', '<meta http-equiv="refresh" content="0">'].map(
      (body): Case => ['login.cookie', { reply: loggedOut(page(body)), cookie: STRICT }, advised(/^SameSite=Strict/)]),
    ['login.cookie', {}, untested('SameSite of sid is not known: give the whole Set-Cookie line')],
    ['login.cookie', { cookie: 'Set-Cookie: sid=ada' }, PASS],
    ['login.cookie', { cookie: 'sid=ada; Path=/' }, PASS]
  ],
  'login.cookie: without Path, unless a form of the login page sets it in reach of the endpoint': [
    ...['/login', '', '/a/search"></form><form action="/login', '/login"></form><form action="/a/search'].map(
      (action): Case =>
        ['login.cookie', { reply: loggedOut(page(`<form action="${action}">`)), cookie: 'Set-Cookie: sid=ada' }, PASS]),
    ...['/auth/login', 'http://['].map((action): Case => ['login.cookie', {
      reply: loggedOut(page(`<form action="${action}">`)), cookie: 'Set-Cookie: sid=ada'
    }, advised(/^no Path on sid: .*; without it 200/)]),
    ['login.cookie', { reply: loggedOut(redirect('http://a.test/in?to=1')), cookie: 'Set-Cookie: sid=ada' },
      advised(/; without it 302 with a redirect to http:\/\/a\.test\/in$/, { fix: /Path=\/, and sign in once in a/ })],
    ['login.cookie', { cookie: 'Set-Cookie: sid=ada; Path=/\nSet-Cookie: csrf=1', reply: loggedOut({ status: 401 }) },
      PASS]
  ],
  'login.cookie: without a user, the cookies that the service sets are judged': [
    ['login.cookie', setting('session=1; SameSite=Strict; Path=/'),
      advised(/^the service sets the cookie session with SameSite=Strict/)],
    ['login.cookie', setting('session=1; Path=/login'),
      advised(/^the service sets the cookie session with Path=\/login/)],
    ['login.cookie', setting('session=1; SameSite=Lax; Path=/'), untested()]
  ],
  'a page with a script may send its form in another way: advice, not a failure': [
    ['login.form-action', { parts: MISTAKES['login-csp'], loginRedirects: true }, certain(/^form-action 'self'$/)],
    ['login.form-action', { loginRedirects: true, parts: POLICY_IN_PAGE }, certain(/^form-action 'self'$/)],
    ['login.form-action', { parts: { ...MISTAKES['login-csp'], ...SCRIPTED }, loginRedirects: true },
      advised(/^form-action/)],
    ['login.return', { parts: MISTAKES['login-forgets'] }, certain(/^the login page \/login, without the address/)],
    ['login.return', { parts: { ...MISTAKES['login-forgets'], ...SCRIPTED } },
      advised(/^the login page \/login, without/)]
  ],
  'login.return: an address that leads nowhere, unless a session may know its query': [
    ['login.return', first(loggedOut(toLogin('/oauth/authorize')),
      ({ url }) => url.endsWith('/oauth/authorize') ? { status: 400 } : null),
    advised(/^\/oauth\/authorize without its query: 400/)],
    ['login.return', first(loggedOut(toLogin('/oauth/authorize?client_id=other')),
      ({ url }) => url.endsWith('client_id=other') ? { status: 400 } : null), certain(/^\/oauth\/authorize: 400/)],
    ['login.return', bound('pending', '?resume=1'), PASS],
    ['login.return', bound('sid', '?resume=1'), advised(/^\/oauth\/authorize: 400/)],
    ['login.return', bound('sid', '?redirect_uri=other'), certain(/^\/oauth\/authorize: 400/)],
    ['login.return', { parts: { ...MISTAKES['login-loses-prefix'], prefix: '/app' } }, fixed(STRIPPED)],
    ['login.return', loggedOut(toLogin('https://www.partner.example/oauth/authorize')),
      inBrowser('the login page returns to https://www.partner.example, not to the base URL')],
    ['login.return', loggedOut(page('<form method=post>')),
      inBrowser('the login page is at the address of the request')]
  ],
  'login.return: a page that drops the address, unless a script may send it or the page knows it': [
    ['login.return', withLogin(page('<form method=post action="/login">')),
      certain(/^a form with action="\/login"/)],
    ['login.return', withLogin(page('<form method=post action="/login"><script src="/login.js">')),
      advised(/^a form with action="\/login"/)],
    ['login.return', withLogin(({ url }) => page(`<form action="/login"><input value="${url}">`)), PASS],
    ...['<form action="/search"></form><form>', '<form></form><form action="/search">'].map(
      (body): Case => ['login.return', withLogin(page(body)), PASS]),
    ['login.return', first(loggedOut(({ url }) => toLogin(url, cookies('session=1'))),
      atLogin(page('<form method=post action="/login">'))),
    inBrowser('its form drops the address to return to, which the cookie session may keep')],
    ['login.return', { parts: SCRIPTED }, inBrowser('a script of the login page may send its form')],
    ...['<div id=root></div><script src="/app.js"></script>', '<a href="/saml">Log in</a>'].map(
      (body): Case => ['login.return', withLogin(page(body)), inBrowser('the login page has no form')]),
    ['login.return', loggedOut(redirect('https://login.partner.example/?nonce=1')),
      inBrowser('the service shows no login page of its own: 302 with a redirect to https://login.partner.example/')],
    ['login.return', loggedOut('silence'), untested(/^The service gave no complete response within 5 s$/)],
    ['login.return', first(loggedOut(redirect('/login', cookies('session=1'))), atLogin(page('<form method=post>'))),
      inBrowser('the login page names no return address')],
    ['login.return', first(loggedOut((request) => redirect(`/login?number=${valueOf(request, 'state')}`)),
      atLogin(page('<form method=post>'))), inBrowser('the login page names no return address')]
  ],
  'a case of a rule that the service lets through; the others: probes.test.ts': [
    ...['?code=', '#code=', '?access_token=', '#access_token=', '#state=x&access_token='].map((given): Case =>
      ['authorize.response-type', atAuthorize((request) => valueOf(request, 'response_type') === 'unknown'
        ? redirect(`${REDIRECT_URI}${given}a-text-of-the-service`)
        : null), failed(/302/)]),
    ['authorize.foreign-redirect-uri', atAuthorize((request) => redirect(valueOf(request, 'redirect_uri'))),
      failed(/302/)],
    ['authorize.foreign-redirect-uri', atAuthorize(back({ code: 'a-code' })), failed(/302/)],
    ['authorize.foreign-redirect-uri', {
      redirectUri: 'https://portal.example/CB', parts: { redirectUri: 'https://portal.example/CB' }
    }, PASS],
    ...[
      { redirectUri: `${REDIRECT_URI}?tenant=1`, given: `${REDIRECT_URI}?tenant=1&more=1` },
      { redirectUri: 'http://localhost/cb', given: 'http://localhost.foreign.example/cb' },
      { redirectUri: 'https://portal.example/cb', given: 'https://portal.example:1/cb' },
      { redirectUri: 'https://portal.example/%C3/cb', given: 'https://portal.example/%C3/%63b' }
    ].map(({ redirectUri, given }): Case => ['authorize.redirect-uri-exact', {
      redirectUri,
      parts: { redirectUri },
      reply: (request) => valueOf(request, 'redirect_uri') === given ? redirect(given) : null
    }, certain(new RegExp(`: 302 with a redirect to ${given.replace(/[.?+]/g, '\\$&')}$`))]),
    ['user.unknown-token', atUser(({ headers }) =>
      /Bearer eyJ/.test(String(headers)) ? json(200, { external_id: '1' }) : null), failed(/^200/)],
    ['user.unknown-token', atUser(({ headers }) =>
      /Bearer eyJ/.test(String(headers)) ? null : json(200, { external_id: '1' })), failed(/^200/)],
    ['token.short-secret', { clientSecret: 'x'.repeat(21) }, advised('a client_secret of 21 characters')],
    ['token.short-secret', { clientSecret: 'x'.repeat(22) }, PASS],
    ['authorize.fresh-code', atAuthorize(back({ code: 'always-the-same-code' })), certain('the same one twice')]
  ],
  'a refusal or an error page that says too much': [
    ['user.unknown-token', atUser(json(401, { error: 'invalid_token', user: RECORDS.ada })),
      certain(/, with a token or a record in it$/)],
    ['token.unknown-code', atToken(json(400, { error: 'invalid_grant', details: { access_token: 'a-token' } })),
      certain(/, with a token or a record in it$/)],
    ['authorize.no-injection', atAuthorize((request) => ({ status: 400, body: valueOf(request, 'client_id') })),
      certain(/^a page with the script/)],
    ['authorize.no-injection', atAuthorize((request) => page(valueOf(request, 'redirect_uri'))),
      certain(/^a page with the script/)]
  ],
  'headers that are missing or say the wrong thing are named': [
    ['authorize.referrer', atAuthorize(issues([])), failed('no Referrer-Policy')],
    ...['origin, unsafe-url', 'origin, no-referrer-when-downgrade'].map((policy): Case => ['authorize.referrer',
      atAuthorize(issues([['Referrer-Policy', policy]])), failed(`Referrer-Policy: ${policy}`)]),
    ['authorize.framing', atAuthorize({ status: 400 }), failed('neither frame-ancestors nor X-Frame-Options')],
    ['authorize.framing', atAuthorize({ headers: [['X-Frame-Options', 'ALLOWALL']] }),
      failed('X-Frame-Options: allowall')],
    ['authorize.framing', atAuthorize({
      headers: [['X-Frame-Options', 'DENY'], ['Content-Security-Policy', 'frame-ancestors *']]
    }), failed('frame-ancestors *')],
    ['authorize.framing', atAuthorize({
      status: 400, headers: [['Content-Security-Policy', 'frame-ancestors *, frame-ancestors \'none\'']]
    }), PASS],
    ['authorize.no-store', atAuthorize(issues([])), failed('no Cache-Control')],
    ['authorize.no-store', atAuthorize(issues([['Cache-Control', 'no-cache']])), failed('Cache-Control: no-cache')],
    ...[301, 307].map((status): Case =>
      ['authorize.temporary-redirect', atAuthorize(issues([], status)), advised(String(status))]),
    ['authorize.cors', atAuthorize({ headers: [['Access-Control-Allow-Origin', '*']] }),
      certain('Access-Control-Allow-Origin: *')],
    // A preflight alone lets nobody read a response.
    ['authorize.cors', atAuthorize(({ method }) =>
      method === 'OPTIONS' ? { headers: [['Access-Control-Allow-Origin', '*']] } : null), PASS],
    ['token.client-challenge', atToken(error(401, 'invalid_client')),
      advised(/^401 .*invalid_client, no WWW-Authenticate: Basic$/)],
    ['token.client-challenge', atToken(json(401, { error: 'invalid_client' }, [['WWW-Authenticate', 'Bearer']])),
      failed(/no WWW-Authenticate: Basic$/)],
    ['user.challenge', atUser(error(401, 'invalid_token')), advised(/^401 .*, no WWW-Authenticate: Bearer$/)],
    ['user.challenge', atUser(json(401, { error: 'invalid_token' }, [['WWW-Authenticate', 'Basic']])),
      failed(/no WWW-Authenticate: Bearer$/)],
    ['token.client-challenge', atToken(json(400, { error: 'invalid_client' }, [['WWW-Authenticate', 'Basic']])),
      failed(/^400 .*invalid_client$/)],
    ['authorize.error-redirect', atAuthorize(redirect(`${REDIRECT_URI}?error=unsupported_response_type`)),
      failed(/^no state: 302/)]
  ],
  'a header in several lines is one list (RFC 9110 §5.2)': ([
    ['authorize.no-store', 302, 'Cache-Control', 'private', 'no-store'],
    ['authorize.referrer', 302, 'Referrer-Policy', 'unsafe-url', 'no-referrer'],
    ['authorize.framing', 302, 'Content-Security-Policy', 'default-src *', 'frame-ancestors \'none\''],
    ['user.challenge', 401, 'WWW-Authenticate', 'Basic', 'Bearer error="invalid_token"']
  ] as const).map(([rule, status, name, ...values]): Case =>
    [rule, first(atAuthorize(issues(values.map((value) => [name, value]), status)),
      atUser({ status, headers: values.map((value) => [name, value]) })), PASS]),
  'a page where JSON was due': [
    ['token.response', { parts: MISTAKES['html-token'] }, failed('200 with text/html (“Welcome”)', {
      fix: /Content-Type: application\/json/
    })]
  ],
  'a refusal that has the members of a response and no value in them': [
    ...[null, ''].map((value): Case => ['token.unknown-code',
      atToken(json(400, { error: 'invalid_grant', access_token: value })), PASS])
  ],
  'an error with a status of success is advice': [
    ['token.unknown-code', atToken(error(200, 'invalid_grant')), advised(/^200/, { fix: /400 or 401/ })],
    ['user.unknown-token', atUser(error(200, 'invalid_token')), advised(/^200/, { fix: /400 or 401/ })]
  ],
  'token.body: a form gets no response, a request without body does': [
    ['token.body', (request) => isForm(request) ? 'silence' : null,
      failed(new RegExp(`^${SLOW} to a form; a request without body gets 4\\d\\d with`))],
    ['token.body', atToken(atFirst(['silence'])), untested()],
    ['token.body', atToken('silence'), { ...untested(), stopped: /gave no complete response/ }],
    ['token.body', atToken((request) => !isForm(request)
      ? null
      : String(request.body).includes('no-such-grant') ? { status: 429 } : 'silence'), stopped(/limits the rate/)],
    ['token.body', atToken(({ body = '' }) =>
      error(400, body.includes('no-such') ? 'unsupported_grant_type' : 'invalid_request')), PASS]
  ],
  'secrets that the service repeats are hidden, also codes that were never redeemed': [
    ['address.endpoints', () => error(404, 'server_error', CLIENT_SECRET), failed(/\(••••••••\)/)],
    ['token.response', atToken(error(400, 'invalid_client', `The secret ${CLIENT_SECRET} is wrong`)),
      failed(/\(The secret •••••••• is wrong\)$/)],
    ['token.basic', first(atAuthorize(back({ code: 'a-code-of-the-service' })),
      atToken(error(400, 'invalid_grant', 'There was a-code-of-the-service'))), failed(/\(There was ••••••••\)/)]
  ],
  'what needs no record of the user, where a broken token endpoint gives none': [
    ['authorize.claimed-user', (request) => valueOf(request, 'user') === 'ada@partner.example'
      ? back({ code: 'a-code' })(request)
      : null, certain(/^with user=ada@partner\.example: 302/)],
    ['authorize.claimed-user', {}, PASS],
    ['authorize.derived-code', {}, PASS]
  ],
  'the lifetime of codes is waited for where the deadline leaves a minute for the other rules': [
    ['token.code-lifetime', { deadline: 660 }, untested('it needs --code-lifetime')],
    ['token.code-lifetime', { deadline: 661 }, PASS]
  ],
  'nothing to judge': [
    ['authorize.state', atAuthorize(page('')), untested(/^there is no redirect to the portal: 200/)],
    ['authorize.state', cutsState, failed('a state of 255 characters, for a state of 1000 characters')],
    ['authorize.fresh-code', atAuthorize(page('')), untested(/^there is no code: 200/)],
    ['token.hook', atAuthorize(page('')), untested(/^there is no code: 200/)],
    ['user.hook', atAuthorize(page('')), untested(/^there is no code: 200/)],
    ['authorize.fresh-code', atAuthorize(back({ error: 'access_denied' })),
      untested('there is no code: the error access_denied')],
    ['authorize.access-denied', {}, untested('it needs --ineligible-cookie')],
    ['authorize.access-denied', { ineligible: 'nobody=1' },
      untested('the cookie of --ineligible-cookie logs nobody in')],
    ['token.code-lifetime', {}, untested('it needs --code-lifetime')],
    ['user.token-lifetime', {}, untested('it needs --token-lifetime')],
    ['token.other-client', { second: { clientId: 'nobody', clientSecret: 'x' } },
      untested(/^the second client is refused for itself: 401/)],
    // A short secret is found in any page, and a mark in a page need not be in an attribute.
    ['service.secret-shown', { clientSecret: 'a', reply: () => page('a page') }, PASS],
    ['authorize.no-injection', atAuthorize((request) => page(`<q1"${valueOf(request, 'client_id').replace('<', '')}>`)),
      PASS],
    ['token.no-store', atToken(error(400, 'invalid_grant')), untested(/^there is no access token: 400/)],
    ['user.replayed-token', atToken(error(400, 'invalid_grant')), untested(/^there is no access token: 400/)],
    ['token.race', atToken(error(400, 'invalid_grant')), untested(/^no request won one of 9 races/)],
    ['user.no-store', atUser(json(500, {})), untested(/^there is no record: 500/)],
    ['user.listed-fields', atUser({ body: 'a page' }), PASS]
  ],
  'a limited rate and an unavailable service leave the check incomplete': [
    ['address.endpoints', atToken({ status: 429 }), stopped(/limits the rate/)],
    ['token.response', atToken({ status: 503 }), { ...untested(), stopped: /unavailable for the moment: 503/ }],
    ['authorize.code', atAuthorize(back({ error: 'temporarily_unavailable', error_description: 'Wait.' })), {
      ...untested(),
      stopped: 'The check is not complete: the service says that it is unavailable for the moment: 302 with a ' +
        `redirect to ${REDIRECT_URI} with the error temporarily_unavailable (Wait.). ` +
        'The store of the service is down: check Redis.'
    }]
  ]
}

for (const [title, cases] of Object.entries(VERDICTS)) {
  await t.test(title, async (t) => {
    for (const [rule, trial, expected] of cases) {
      t.match(await verdict(rule, typeof trial === 'function' ? { reply: trial } : trial), expected, rule)
    }
  })
}

await t.test('the SameSite of one cookie is known by the sign-in before, that of the given one is not', async (t) => {
  const setting: Parts['after'] = (reply) =>
    ({ ...reply, headers: [...reply.headers ?? [], ['Set-Cookie', 'csrf=1; Path=/; SameSite=Lax']] })
  const { findings } = await tried(['authorize.code', 'login.cookie'], { parts: { after: setting } })
  const unknown = untested('SameSite of sid is not known: give the whole Set-Cookie line')
  t.match(findings.map(({ result }) => result), [PASS, unknown])
})

await t.test('a service that only fails gets advice, or no verdict where a proxy may have failed', async (t) => {
  for (const status of [500, 501, 502, 503, 504]) {
    const expected = status < 502 ? advised(/50/) : untested()
    const reply = first(atToken(json(status, {})), atUser(json(status, {})),
      atAuthorize(({ url }) => url.includes('unknown') ? json(status, {}) : null))
    for (const id of ['token.wrong-secret', 'token.unknown-code', 'user.no-token', 'user.unknown-token',
      'authorize.unknown-client', 'authorize.response-type']) {
      t.match(await verdict(id, { reply }), expected, `${id}: ${status}`)
    }
  }
})

await t.test('where a code or token may have expired on the way, its refusal is not judged', async (t) => {
  const real = performance.now
  let passed = 0
  performance.now = () => passed
  t.teardown(() => { performance.now = real })
  const slowly = (alteration: Alteration, requests = Infinity): Alteration => (request) => {
    if (requests-- > 0) passed += 1000
    return alteration(request)
  }
  const expired = error(400, 'invalid_grant', 'Gone.')
  const sentence = 'the service is so slow that the code may have expired: 400 with the error invalid_grant (Gone.)'
  t.match(await verdict('token.response', { reply: slowly(atToken(expired)) }),
    { ...untested(sentence), stopped: `The check is not complete: ${sentence}.` })
  t.match(await verdict('token.basic', { reply: slowly(atToken(expired)) }),
    { ...untested(sentence), stopped: undefined }, 'advice leaves the check complete')
  for (const refusal of [error(401, 'invalid_token'), { status: 403 }]) {
    t.match(await verdict('user.record', { reply: slowly(atUser(refusal)) }),
      untested(/^the service is so slow/), JSON.stringify(refusal))
  }
  for (const [id, reply] of [
    ['token.response', atToken(error(401, 'invalid_client'))],
    ['token.response', atToken(json(200, { token_type: 'bearer', access_token: 'a-token' }))],
    ['token.response', atToken(json(500, {}))],
    ['token.response', atToken(redirect('/login'))],
    ['token.basic', atToken(error(401, 'invalid_client'))],
    ['user.record', atUser(json(200, { ...RECORDS.ada, control_role: 'Admin' }))]
  ] as const) t.match(await verdict(id, { reply: slowly(reply) }), failed(/./), `this is not due to expiry: ${id}`)
  const atFirstLeg: Alteration = (request) => {
    passed += pathOf(request) === '/oauth/authorize' ? 1000 : 0
    return null
  }
  t.match(await verdict('user.record', { reply: first(atFirstLeg, atUser(error(401, 'invalid_token'))) }),
    failed(/^401/), 'the age of the token counts, not that of the code')
  for (const late of [[expired], [expired, expired]]) {
    t.match(await verdict('token.response', { reply: slowly(atToken(atFirst(late))) }), PASS,
      `quick enough after ${late.length} late responses`)
  }
  t.match(await verdict('token.response', { reply: slowly(atToken(expired), 1) }), failed(/^400/), 'quick, refused')
})
