import type { Arrival } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import type { Changes } from '../../flow/requests.ts'
import { authorizeUrl } from '../../flow/requests.ts'
import { header, statusOf } from '../../flow/wire.ts'
import { Untested } from './errors.ts'
import { expectNoReferrer, expectNoStore, expectUnframed } from './headers.ts'
import { expectError, expectNoCode, expectNoRedirect, givesNoCode } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect, must, should } from './rule.ts'
import type { Service } from './service.ts'
import { sentToPortal } from './service.ts'
import { alike } from './without-user.ts'

/** All that RFC 6749 appendix A.5 allows and a careless service changes: both cases, reserved characters, a space. */
const AWKWARD_STATE = 'aZ09-._~!*\'()&=+ %2F?#/<>"'
/** 128 random bits take this many characters even where every printable one is used. */
const SHORTEST_CODE = 20
const SCRIPT = '<script>alert(1)</script>'
/** Text of the request that an error page may repeat. */
const INJECTIONS: Changes[] = [{ client_id: SCRIPT }, { redirect_uri: `https://foreign.example/${SCRIPT}` }]

/** `GET /oauth/authorize`. */
export const AUTHORIZE_RULES: readonly Rule[] = [
  must('authorize.state', 'RFC 6749 §4.1.2', 'The state comes back exactly as it was sent.',
    'Read the state once decoded and encode it once, or pass the raw value on.',
    async (service) => {
      const arrival = await service.authorize({ state: AWKWARD_STATE })
      const got = describe(arrival.exchange)
      if (arrival.at !== 'callback') throw new Untested(`there is no redirect to the portal: ${got}`)
      const states = sentToPortal(arrival).getAll('state').join(', ')
      expect(states === AWKWARD_STATE, `${states === '' ? 'no state' : states}, for ${AWKWARD_STATE}`)
    }),
  must('authorize.foreign-redirect-uri', 'RFC 6749 §4.1.2.1',
    'A redirect_uri that is not the registered one is refused, and never redirected to.',
    'Compare the redirect_uri with the registered one as whole strings, and respond with 400 and a page.',
    async (service) => {
      for (const uri of foreignUris(service.portal.redirectUri)) {
        await expectNoRedirect(service, { redirect_uri: uri }, uri)
      }
    }),
  must('authorize.unknown-client', 'RFC 6749 §4.1.2.1', 'An unknown client_id is refused, and nothing is redirected.',
    'Compare the client_id with the one given to the portal, and respond with 400 and a page.',
    (service) => expectNoRedirect(service, { client_id: `${service.portal.clientId}-unknown` })),
  must('authorize.missing-client', 'RFC 6749 §4.1.1', 'A request without client_id is refused.',
    'client_id is required: respond with 400 and a page.',
    (service) => expectNoRedirect(service, { client_id: undefined })),
  must('authorize.missing-redirect-uri', 'RFC 6749 §4.1.1', 'A request without redirect_uri is refused.',
    'The portal always sends redirect_uri: respond with 400 and a page, also where only one is registered.',
    givesNoCode({ redirect_uri: undefined }), ['authorize.foreign-redirect-uri']),
  must('authorize.response-type', 'RFC 6749 §3.1.1', 'Another response_type than code gives no code.',
    'Accept response_type=code only.',
    givesNoCode({ response_type: 'unknown' }, { response_type: undefined })),
  must('authorize.login-needed', 'RFC 6749 §3.1', 'A browser whose user is not logged in gets no code.',
    'Ask the session who the user is before a code is issued; currentUser returns null where nobody is logged in.',
    async (service) => expectNoCode(await service.loggedOut()), ['login.page']),
  must('authorize.eligibility', 'RFC 6749 §4.1.2.1', 'A user who may not use the portal gets no code.',
    'Ask for each user whether they may use the portal, before a code is issued.',
    async (service) => expectNoCode(await ineligible(service))),
  should('authorize.access-denied', 'RFC 6749 §4.1.2.1',
    'A user who may not use the portal is sent back to it with error=access_denied.',
    'Redirect to the redirect_uri with error=access_denied and the state.',
    async (service) => expectError(await ineligible(service), 'access_denied'),
    ['authorize.eligibility', 'authorize.state']),
  must('authorize.fresh-code', 'RFC 6749 §10.10', 'Each code is new and long enough not to be guessed.',
    'Make codes of at least 128 random bits from a cryptographic source.',
    async (service) => {
      const [first, second] = [await service.code(), await service.code()]
      expect(first.code !== second.code, 'the same code twice')
      expect(first.code.length >= SHORTEST_CODE, `a code of ${first.code.length} characters`)
    }),
  must('authorize.cors', 'RFC 9700 §2.6', 'Other origins cannot read the response (no CORS).',
    'Exempt /oauth/authorize from the application’s CORS headers: browsers are sent there by a redirect.',
    async ({ portal }) => {
      const headers = [['Origin', 'https://foreign.example']] as const
      const { response } = await portal.send({ method: 'GET', url: authorizeUrl(portal, 'the-state'), headers })
      const allowed = header(response, 'access-control-allow-origin')
      // No preflight: without the header on this response it lets nobody read anything.
      expect(allowed === '', `Access-Control-Allow-Origin: ${allowed}`)
    }),
  must('authorize.no-injection', 'RFC 6749 §10.14', 'An error page does not repeat text of the request.',
    'Put nothing from the request on the error page, or escape it.',
    async (service) => {
      for (const changes of INJECTIONS) {
        const { exchange: { response } } = await service.authorize(changes)
        const type = header(response, 'content-type').toLowerCase()
        // Without a type, browsers guess: they take it for a page.
        const isPage = type === '' || type.includes('html')
        expect(!isPage || !String(response?.body).includes(SCRIPT), 'a page with the script from the request')
      }
    }),
  should('authorize.error-redirect', 'RFC 6749 §4.1.2.1',
    'Another response_type leads to a redirect with error=unsupported_response_type and the state.',
    'Redirect to the redirect_uri with error and the received state.',
    async (service) => {
      const arrival = await service.authorize({ response_type: 'unknown', state: 'the-state' })
      expectError(arrival, 'unsupported_response_type')
    }, ['authorize.response-type', 'authorize.state']),
  should('authorize.state-needed', 'RFC 6749 §10.12', 'A request without state gives no code.',
    'Redirect to the redirect_uri with error=invalid_request: ' +
      'without state the portal cannot tell whose sign-in it is.',
    givesNoCode({ state: undefined })),
  should('authorize.repeated', 'RFC 6749 §3.1', 'A repeated parameter is an error.',
    'Refuse a request with a repeated parameter: two readers may see two values.',
    (service) => {
      const { clientId, redirectUri } = service.portal
      const values = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'the-state' }
      return givesNoCode(...Object.entries(values).map(([name, value]) => ({ [name]: [value, value] })))(service)
    }),
  should('authorize.head', 'RFC 9110 §9.2.1', 'HEAD issues no code.',
    'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false): link checkers and scanners send HEAD.',
    async (service) => expectNoCode(await service.authorize({}, service.browser, 'HEAD'))),
  should('authorize.temporary-redirect', 'RFC 9700 §4.12', 'The redirect to the portal is 302 or 303.',
    'Redirect with 302: browsers cache 301 and 308, and send a login form on with 307 and 308.',
    async (service) => {
      const status = statusOf((await service.granted()).arrival.exchange)
      expect(status === 302 || status === 303, `${status}`)
    }),
  should('authorize.no-store', 'RFC 9111 §5.2.2.5', 'The redirect with the code must not be cached.',
    'Send Cache-Control: no-store with every response of the endpoint.',
    async (service) => expectNoStore((await service.granted()).arrival.exchange)),
  should('authorize.referrer', 'RFC 9700 §4.2.4', 'The address with its parameters is not sent on as referrer.',
    'Send Referrer-Policy: no-referrer.',
    async (service) => expectNoReferrer((await service.granted()).arrival.exchange)),
  should('authorize.framing', 'RFC 9700 §4.16', 'The endpoint cannot be framed.',
    'Send Content-Security-Policy: frame-ancestors \'none\' and X-Frame-Options: DENY.',
    async (service) => expectUnframed((await service.authorize({ client_id: undefined })).exchange))
]

function foreignUris (registered: string): string[] {
  const { origin, protocol, hostname, port, pathname } = new URL(registered)
  const withPath = (path: string): string => registered.replace(origin + pathname, origin + path)
  const withOrigin = (other: string): string => registered.replace(origin, other)
  const encoded = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`
  return [
    'https://foreign.example/callback',
    `${registered}/more`,
    `${registered}${registered.includes('?') ? '&' : '?'}more=1`,
    `${registered}#more`,
    registered.replace('://', '://foreign.example@'),
    withPath(`${pathname}/`),
    withPath(pathname.toUpperCase()),
    withPath(pathname.replace(/(?<!%.?)[a-z]/i, encoded)),
    withOrigin(`${origin}.foreign.example`),
    withOrigin(origin.replace(protocol, protocol === 'https:' ? 'http:' : 'https:')),
    // RFC 8252 §7.3: a service may accept any port of http on loopback.
    withOrigin(`https://${hostname}:${Number(port) + 1}`)
  ].filter((uri) => uri !== registered && URL.canParse(uri))
}

/** Where the user arrives who may not enter. @throws Untested where none was named, or the user is not logged in */
async function ineligible (service: Service): Promise<Arrival> {
  const { ineligible, material } = service.settings
  if (material.ineligible !== undefined) return material.ineligible
  if (ineligible === null) throw new Untested('it needs --ineligible-cookie')
  const arrival = await service.authorize({}, service.browserOf(ineligible))
  if (alike(arrival, await service.loggedOut())) throw new Untested('the cookie of --ineligible-cookie logs nobody in')
  return arrival
}
