import { type Arrival, redirectTarget } from '../../../testing/browser.ts'
import { authorizeUrl, type Changes } from '../../../testing/requests.ts'
import { header, type WireResponse } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { fail, everyOf, type Rule, type Verdict, when } from './rule.ts'
import { Untested } from './untested.ts'

/** All that RFC 6749 appendix A.5 allows and that a careless service changes: both cases, reserved characters, a space. */
const AWKWARD_STATE = 'aZ09-._~!*\'()&=+ %2F?#/<>"'
const SHORTEST_CODE = 22

/** `GET /oauth/authorize`. */
export const AUTHORIZE_RULES: Rule[] = [
  {
    id: 'authorize.state',
    section: 'spec §4.1, §5.4',
    severity: 'must',
    sentence: 'The state comes back exactly as it was sent.',
    fix: 'Read the state once decoded and encode it once, or pass the raw value on.',
    test: async (bench) => {
      const arrival = await bench.authorize({ state: AWKWARD_STATE })
      if (arrival.at !== 'callback') throw new Untested(`no redirect to the portal was to be had: ${bench.told(arrival.exchange)}`)
      const states = new URL(arrival.callbackUrl).searchParams.getAll('state')
      return when(states.length === 1 && states[0] === AWKWARD_STATE, `${states.length === 0 ? 'no state' : states.join(', ')}, for ${AWKWARD_STATE}`)
    }
  },
  {
    id: 'authorize.foreign-redirect-uri',
    section: 'spec §4.1, RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'A redirect_uri that is not the registered one is refused, and never redirected to.',
    fix: 'Compare the redirect_uri with the registered one as whole strings, and answer 400 with a page.',
    test: (bench) => everyOf(foreignUris(bench.portal.redirectUri), (uri) => neverRedirects(bench, { redirect_uri: uri }, uri))
  },
  {
    id: 'authorize.unknown-client',
    section: 'spec §4.1, RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'An unknown client_id is refused, and nothing is redirected.',
    fix: 'Compare the client_id with the one given to the portal, and answer 400 with a page.',
    test: (bench) => neverRedirects(bench, { client_id: `${bench.portal.clientId}-unknown` })
  },
  {
    id: 'authorize.missing-client',
    section: 'spec §4.1',
    severity: 'must',
    sentence: 'A request without client_id is refused.',
    fix: 'client_id is required: answer 400 with a page.',
    test: (bench) => neverRedirects(bench, { client_id: undefined })
  },
  {
    id: 'authorize.missing-redirect-uri',
    section: 'spec §4.1',
    severity: 'must',
    sentence: 'A request without redirect_uri is refused.',
    fix: 'redirect_uri is required, also where only one is registered: answer 400 with a page.',
    test: (bench) => givesNoCode(bench, { redirect_uri: undefined })
  },
  {
    id: 'authorize.response-type',
    section: 'spec §4.1',
    severity: 'must',
    sentence: 'Another response_type than code gives no code.',
    fix: 'Accept response_type=code only.',
    test: (bench) => everyOf(['unknown', undefined], (type) => givesNoCode(bench, { response_type: type }))
  },
  {
    id: 'authorize.login-needed',
    section: 'spec §4.1, §5.5',
    severity: 'must',
    sentence: 'A browser whose user is not logged in gets no code.',
    fix: 'Ask the session who the user is before a code is issued.',
    test: async (bench) => noCode(bench, await bench.loginPage())
  },
  {
    id: 'authorize.eligibility',
    section: 'spec §1.2, §4.1',
    severity: 'must',
    sentence: 'A user who may not use the portal gets no code.',
    fix: 'Ask for each user whether they may use the portal, before a code is issued.',
    test: async (bench) => noCode(bench, await bench.authorize({}, ineligible(bench)))
  },
  {
    id: 'authorize.access-denied',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'should',
    sentence: 'A user who may not use the portal is sent back to it with error=access_denied.',
    fix: 'Redirect to the redirect_uri with error=access_denied and the state.',
    test: async (bench) => sendsError(bench, await bench.authorize({}, ineligible(bench)), 'access_denied')
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
    fix: 'Exempt /oauth/authorize from the application’s CORS headers: browsers go there by redirect.',
    test: (bench) => everyOf(['GET', 'OPTIONS'], (method) => noCors(bench, method))
  },
  {
    id: 'authorize.no-injection',
    section: 'RFC 6749 §10.14',
    severity: 'must',
    sentence: 'An error page does not carry what the request brought.',
    fix: 'Put nothing from the request on the error page, or escape it.',
    test: async (bench) => {
      const { exchange } = await bench.authorize({ client_id: '<script>alert(1)</script>' })
      return when(exchange.response?.body.includes('<script>alert(1)') !== true, 'a page with the script from the request')
    }
  },
  {
    id: 'authorize.error-redirect',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'should',
    sentence: 'Another response_type is answered by a redirect with error=unsupported_response_type and the state.',
    fix: 'Redirect to the redirect_uri with error and the received state.',
    test: async (bench) => sendsError(bench, await bench.authorize({ response_type: 'unknown', state: 'the-state' }), 'unsupported_response_type')
  },
  {
    id: 'authorize.state-needed',
    section: 'spec §4.1',
    severity: 'should',
    sentence: 'A request without state gives no code.',
    fix: 'Redirect to the redirect_uri with error=invalid_request: without state the portal cannot tell whose sign-in it is.',
    test: (bench) => givesNoCode(bench, { state: undefined })
  },
  {
    id: 'authorize.repeated',
    section: 'RFC 6749 §3.1',
    severity: 'should',
    sentence: 'A repeated parameter is an error.',
    fix: 'Refuse a request in which a parameter comes more than once: two readers may see two values.',
    test: (bench) => everyOf(repeats(bench), (changes) => givesNoCode(bench, changes))
  },
  {
    id: 'authorize.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD issues no code.',
    fix: 'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false): link checkers and scanners send HEAD.',
    test: async (bench) => noCode(bench, await bench.authorize({}, bench.browser, 'HEAD'))
  },
  {
    id: 'authorize.temporary-redirect',
    section: 'RFC 9700 §4.12',
    severity: 'should',
    sentence: 'The redirect to the portal is 302 or 303.',
    fix: 'Redirect with 302: 301 and 308 are kept by browsers, 307 and 308 send a login form on.',
    test: async (bench) => {
      const { status } = (await coded(bench)).exchange.response as WireResponse
      return when(status === 302 || status === 303, `${status}`)
    }
  },
  {
    id: 'authorize.no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'The redirect with the code is not to be cached.',
    fix: 'Send Cache-Control: no-store with every answer of the endpoint.',
    test: async (bench) => {
      const value = header((await coded(bench)).exchange.response, 'cache-control')
      return when(/no-store/i.test(value), value === '' ? 'no Cache-Control' : `Cache-Control: ${value}`)
    }
  },
  {
    id: 'authorize.referrer',
    section: 'RFC 9700 §4.2.4',
    severity: 'should',
    sentence: 'The address with its parameters does not travel on as referrer.',
    fix: 'Send Referrer-Policy: no-referrer.',
    test: async (bench) => {
      const value = header((await coded(bench)).exchange.response, 'referrer-policy')
      return when(/no-referrer(?!-when)|^same-origin$/i.test(value), value === '' ? 'no Referrer-Policy' : `Referrer-Policy: ${value}`)
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
      const policy = header(response, 'content-security-policy')
      return when(/frame-ancestors\s+'(?:none|self)'/i.test(policy) || /deny|sameorigin/i.test(header(response, 'x-frame-options')), 'neither frame-ancestors nor X-Frame-Options')
    }
  }
]

function foreignUris (registered: string): string[] {
  const query = `${registered}${registered.includes('?') ? '&' : '?'}more=1`
  return ['https://foreign.example/callback', `${registered}/more`, query, registered.replace('://', '://foreign.example@')]
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
  const fine = sent.get('error') === error && sent.has('state')
  return when(fine, sent.has('state') ? bench.told(arrival.exchange) : `no state: ${bench.told(arrival.exchange)}`)
}

async function noCors (bench: Bench, method: string): Promise<Verdict> {
  const url = authorizeUrl(bench.portal, 'state')
  const asks = method === 'OPTIONS' ? [['Access-Control-Request-Method', 'GET'] as const] : []
  const { response } = await bench.portal.send({ method, url, headers: [['Origin', 'https://foreign.example'], ...asks] })
  const allowed = header(response, 'access-control-allow-origin')
  return when(allowed === '', `${method}: Access-Control-Allow-Origin: ${allowed}`)
}

/** The arrival of a good request. @throws Untested when it brought no code */
async function coded (bench: Bench): Promise<Arrival> {
  await bench.code()
  return bench.authorize()
}

function ineligible (bench: Bench) {
  if (bench.settings.ineligible === null) throw new Untested('no such user was named: --ineligible-cookie')
  return bench.browserOf(bench.settings.ineligible)
}

function named (changes: Changes): string {
  return Object.entries(changes).map(([name, value]) => {
    if (value === undefined) return `no ${name}`
    return Array.isArray(value) ? `${name} twice` : `${name}=${value}`
  }).join(', ')
}
