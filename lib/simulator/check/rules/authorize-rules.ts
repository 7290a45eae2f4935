import { type Arrival, redirectTarget } from '../../../testing/browser.ts'
import { type Changes } from '../../../testing/requests.ts'
import { header, statusOf } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { alike } from './login-state.ts'
import { everyOf, fail, type Rule, type Verdict, when } from './rule.ts'
import { Untested } from './untested.ts'

/** All that RFC 6749 appendix A.5 allows and a careless service changes: both cases, reserved characters, a space. */
const AWKWARD_STATE = 'aZ09-._~!*\'()&=+ %2F?#/<>"'
/** 128 random bits take this many characters even where every printable one is used. */
const SHORTEST_CODE = 20
const SCRIPT = '<script>alert(1)</script>'

/** `GET /oauth/authorize`. */
export const AUTHORIZE_RULES: Rule[] = [
  {
    id: 'authorize.state',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'The state comes back exactly as it was sent.',
    fix: 'Read the state once decoded and encode it once, or pass the raw value on.',
    test: async (bench) => {
      const arrival = await bench.authorize({ state: AWKWARD_STATE })
      const told = bench.told(arrival.exchange)
      if (arrival.at !== 'callback') throw new Untested(`there is no redirect to the portal: ${told}`)
      const states = new URL(arrival.callbackUrl).searchParams.getAll('state')
      const got = states.length === 0 ? 'no state' : states.join(', ')
      return when(states.length === 1 && states[0] === AWKWARD_STATE, `${got}, for ${AWKWARD_STATE}`)
    }
  },
  {
    id: 'authorize.foreign-redirect-uri',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'A redirect_uri that is not the registered one is refused, and never redirected to.',
    fix: 'Compare the redirect_uri with the registered one as whole strings, and answer 400 with a page.',
    test: (bench) => everyOf(foreignUris(bench.portal.redirectUri), (uri) =>
      neverRedirects(bench, { redirect_uri: uri }, uri))
  },
  {
    id: 'authorize.unknown-client',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'An unknown client_id is refused, and nothing is redirected.',
    fix: 'Compare the client_id with the one given to the portal, and answer 400 with a page.',
    test: (bench) => neverRedirects(bench, { client_id: `${bench.portal.clientId}-unknown` })
  },
  {
    id: 'authorize.missing-client',
    section: 'RFC 6749 §4.1.1',
    severity: 'must',
    sentence: 'A request without client_id is refused.',
    fix: 'client_id is required: answer 400 with a page.',
    test: (bench) => neverRedirects(bench, { client_id: undefined })
  },
  {
    id: 'authorize.missing-redirect-uri',
    section: 'RFC 6749 §4.1.1',
    severity: 'must',
    sentence: 'A request without redirect_uri is refused.',
    fix: 'The portal always sends redirect_uri: answer 400 with a page, also where only one is registered.',
    test: (bench) => givesNoCode(bench, { redirect_uri: undefined })
  },
  {
    id: 'authorize.response-type',
    section: 'RFC 6749 §3.1.1',
    severity: 'must',
    sentence: 'Another response_type than code gives no code.',
    fix: 'Accept response_type=code only.',
    test: (bench) => everyOf(['unknown', undefined], (type) => givesNoCode(bench, { response_type: type }))
  },
  {
    id: 'authorize.login-needed',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'A browser whose user is not logged in gets no code.',
    fix: 'Ask the session who the user is before a code is issued.',
    test: async (bench) => noCode(bench, await bench.loginPage())
  },
  {
    id: 'authorize.eligibility',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'A user who may not use the portal gets no code.',
    fix: 'Ask for each user whether they may use the portal, before a code is issued.',
    test: async (bench) => noCode(bench, await ineligible(bench))
  },
  {
    id: 'authorize.access-denied',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'should',
    sentence: 'A user who may not use the portal is sent back to it with error=access_denied.',
    fix: 'Redirect to the redirect_uri with error=access_denied and the state.',
    after: ['authorize.eligibility', 'authorize.state'],
    test: async (bench) => sendsError(bench, await ineligible(bench), 'access_denied')
  },
  {
    id: 'authorize.fresh-code',
    section: 'RFC 6749 §10.10',
    severity: 'must',
    sentence: 'Each code is new and long enough not to be guessed.',
    fix: 'Make codes of at least 128 random bits from a cryptographic source.',
    test: async (bench) => {
      const [first, second] = [await bench.code(), await bench.code()]
      if (first.code === second.code) return fail('the same code twice')
      return when(first.code.length >= SHORTEST_CODE, `a code of ${first.code.length} characters`)
    }
  },
  {
    id: 'authorize.cors',
    section: 'RFC 9700 §2.6',
    severity: 'must',
    sentence: 'Other origins cannot read the answer (no CORS).',
    fix: 'Exempt /oauth/authorize from the application’s CORS headers: browsers are sent there by a redirect.',
    test: (bench) => everyOf(['GET', 'OPTIONS'], (method) => noCors(bench, method))
  },
  {
    id: 'authorize.no-injection',
    section: 'RFC 6749 §10.14',
    severity: 'must',
    sentence: 'An error page does not repeat text of the request.',
    fix: 'Put nothing from the request on the error page, or escape it.',
    test: async (bench) => {
      const { exchange: { response } } = await bench.authorize({ client_id: SCRIPT })
      const type = header(response, 'content-type').toLowerCase()
      const isPage = type === '' || type.includes('html')
      return when(!isPage || response?.body.includes(SCRIPT) !== true, 'a page with the script from the request')
    }
  },
  {
    id: 'authorize.error-redirect',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'should',
    sentence: 'Another response_type is answered by a redirect with error=unsupported_response_type and the state.',
    fix: 'Redirect to the redirect_uri with error and the received state.',
    after: ['authorize.response-type', 'authorize.state'],
    test: async (bench) => {
      const arrival = await bench.authorize({ response_type: 'unknown', state: 'the-state' })
      return sendsError(bench, arrival, 'unsupported_response_type')
    }
  },
  {
    id: 'authorize.state-needed',
    section: 'RFC 6749 §10.12',
    severity: 'should',
    sentence: 'A request without state gives no code.',
    fix: 'Redirect to the redirect_uri with error=invalid_request: ' +
      'without state the portal cannot tell whose sign-in it is.',
    test: (bench) => givesNoCode(bench, { state: undefined })
  },
  {
    id: 'authorize.repeated',
    section: 'RFC 6749 §3.1',
    severity: 'should',
    sentence: 'A repeated parameter is an error.',
    fix: 'Refuse a request with a repeated parameter: two readers may see two values.',
    test: (bench) => everyOf(repeats(bench), (changes) => givesNoCode(bench, changes))
  },
  {
    id: 'authorize.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD issues no code.',
    fix: 'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false): ' +
      'link checkers and scanners send HEAD.',
    test: async (bench) => noCode(bench, await bench.authorize({}, bench.browser, 'HEAD'))
  },
  {
    id: 'authorize.temporary-redirect',
    section: 'RFC 9700 §4.12',
    severity: 'should',
    sentence: 'The redirect to the portal is 302 or 303.',
    fix: 'Redirect with 302: browsers cache 301 and 308, and send a login form on with 307 and 308.',
    test: async (bench) => {
      const status = statusOf((await coded(bench)).exchange)
      return when(status === 302 || status === 303, `${status}`)
    }
  },
  {
    id: 'authorize.no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'The redirect with the code must not be cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoint.',
    test: async (bench) => {
      const value = header((await coded(bench)).exchange.response, 'cache-control')
      return when(/no-store/i.test(value), value === '' ? 'no Cache-Control' : `Cache-Control: ${value}`)
    }
  },
  {
    id: 'authorize.referrer',
    section: 'RFC 9700 §4.2.4',
    severity: 'should',
    sentence: 'The address with its parameters is not sent on as referrer.',
    fix: 'Send Referrer-Policy: no-referrer.',
    test: async (bench) => {
      const value = header((await coded(bench)).exchange.response, 'referrer-policy')
      const good = /no-referrer(?!-when)|^same-origin$/i.test(value)
      return when(good, value === '' ? 'no Referrer-Policy' : `Referrer-Policy: ${value}`)
    }
  },
  {
    id: 'authorize.framing',
    section: 'RFC 9700 §4.16',
    severity: 'should',
    sentence: 'The endpoint cannot be framed.',
    fix: 'Send Content-Security-Policy: frame-ancestors \'none\' and X-Frame-Options: DENY.',
    test: async (bench) => {
      const { response } = (await bench.authorize({ client_id: undefined })).exchange
      const byPolicy = /frame-ancestors\s+'(?:none|self)'/i.test(header(response, 'content-security-policy'))
      const byHeader = /deny|sameorigin/i.test(header(response, 'x-frame-options'))
      return when(byPolicy || byHeader, 'neither frame-ancestors nor X-Frame-Options')
    }
  }
]

function foreignUris (registered: string): string[] {
  const query = `${registered}${registered.includes('?') ? '&' : '?'}more=1`
  const withUser = registered.replace('://', '://foreign.example@')
  return ['https://foreign.example/callback', `${registered}/more`, query, withUser]
}

function repeats ({ portal }: Bench): Changes[] {
  return [
    { client_id: [portal.clientId, portal.clientId] },
    { redirect_uri: [portal.redirectUri, portal.redirectUri] },
    { response_type: ['code', 'code'] },
    { state: ['one', 'two'] }
  ]
}

/** Nothing is redirected to the portal or to the address that the request names. */
async function neverRedirects (bench: Bench, changes: Changes, uri = bench.portal.redirectUri): Promise<Verdict> {
  const arrival = await bench.authorize(changes)
  const target = String(redirectTarget(arrival.exchange, arrival.url))
  const reached = bench.codeOf(arrival) !== null || target.startsWith(new URL(uri).href)
  return when(!reached, `with ${named(changes)}: ${bench.told(arrival.exchange)}`)
}

async function givesNoCode (bench: Bench, changes: Changes): Promise<Verdict> {
  const verdict = noCode(bench, await bench.authorize(changes))
  return verdict.outcome === 'fail' ? fail(`with ${named(changes)}: ${verdict.got}`) : verdict
}

function noCode (bench: Bench, arrival: Arrival): Verdict {
  return when(bench.codeOf(arrival) === null, bench.told(arrival.exchange))
}

function sendsError (bench: Bench, arrival: Arrival, error: string): Verdict {
  if (arrival.at !== 'callback') return fail(bench.told(arrival.exchange))
  const { searchParams: sent } = new URL(arrival.callbackUrl)
  const told = bench.told(arrival.exchange)
  return when(sent.get('error') === error && sent.has('state'), sent.has('state') ? told : `no state: ${told}`)
}

async function noCors (bench: Bench, method: string): Promise<Verdict> {
  const url = bench.begin().start()
  const asks = method === 'OPTIONS' ? [['Access-Control-Request-Method', 'GET'] as const] : []
  const headers = [['Origin', 'https://foreign.example'] as const, ...asks]
  const { response } = await bench.portal.send({ method, url, headers })
  const allowed = header(response, 'access-control-allow-origin')
  return when(allowed === '', `${method}: Access-Control-Allow-Origin: ${allowed}`)
}

/** The arrival of a good request. @throws Untested when it has no code */
async function coded (bench: Bench): Promise<Arrival> {
  await bench.code()
  return bench.authorize()
}

/** Where the user arrives who may not enter. @throws Untested where none was named, or the user is not logged in */
async function ineligible (bench: Bench): Promise<Arrival> {
  if (bench.settings.ineligible === null) throw new Untested('it needs --ineligible-cookie')
  const arrival = await bench.authorize({}, bench.browserOf(bench.settings.ineligible))
  if (alike(arrival, await bench.loginPage())) throw new Untested('the cookie of --ineligible-cookie logs nobody in')
  return arrival
}

function named (changes: Changes): string {
  return Object.entries(changes).map(([name, value]) => {
    if (value === undefined) return `no ${name}`
    return Array.isArray(value) ? `${name} twice` : `${name}=${value}`
  }).join(', ')
}
