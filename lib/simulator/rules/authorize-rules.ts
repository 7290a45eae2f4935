import type { Arrival } from '../../flow/browser.ts'
import { targetOf } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import { authorizeUrl } from '../../flow/requests.ts'
import { header, statusOf } from '../../flow/wire.ts'
import { Failed, Untested } from './errors.ts'
import { expectNoReferrer, expectNoStore, expectUnframed } from './headers.ts'
import {
  expectError, expectNoCode, givesNoCode, neverRedirects, repeated, without
} from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { sentToPortal } from './service.ts'
import { alike } from './without-user.ts'

/**
 * All that RFC 6749 appendix A.5 allows and a careless service changes: both cases, reserved
 * characters, a space.
 */
const AWKWARD_STATE = 'aZ09-._~!*\'()&=+ %2F?#/<>"'
const PLAIN_STATE = '00123456789012345678901'
/** These may be read as a number, trimmed or decoded; RFC 6749 §A.5 allows each of them. */
const STATES = ['1.0', ' state ', 'state+1']
/** These may be cut, or refused by a firewall. */
const UNUSUAL_STATES = [AWKWARD_STATE, 'x'.repeat(1000)]
const ANY_STATE = 'Accept any visible characters and spaces in a state, and send them back as they came.'
/** Characters of a state that a report quotes. */
const LONGEST = 100
const FOREIGN = 'https://foreign.example/callback'

/** `GET /oauth/authorize`. */
export const AUTHORIZE_RULES: readonly Rule[] = [
  {
    id: 'authorize.state',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'The state comes back exactly as it was sent.',
    fix: 'Read the state once decoded and encode it once, or pass the raw value on.',
    async test (service) {
      for (const state of [PLAIN_STATE, ...STATES, ...UNUSUAL_STATES]) {
        const arrival = await service.authorize({ state })
        const got = describe(arrival.exchange)
        if (arrival.at !== 'callback') {
          if (STATES.includes(state)) throw new Failed(`${got}, for ${state}`, ANY_STATE, 'should')
          throw new Untested(`there is no redirect to the portal: ${got}`)
        }
        const states = sentToPortal(arrival).getAll('state').join(', ')
        expect(states === state, `${named(states)}, for ${named(state)}`)
      }
    }
  },
  {
    id: 'authorize.foreign-redirect-uri',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'A redirect_uri that is not the registered one is refused, and never redirected to.',
    fix:
      'Compare the redirect_uri with the registered one as whole strings, and respond with 400 ' +
      'and a page.',
    test: neverRedirects({ redirect_uri: FOREIGN })
  },
  {
    id: 'authorize.unknown-client',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'An unknown client_id is refused, and nothing is redirected.',
    fix: 'Compare the client_id with the one given to the portal, and respond with 400 and a page.',
    test: (service) =>
      neverRedirects({ client_id: `${service.integration.clientId}-unknown` })(service)
  },
  {
    id: 'authorize.missing-client',
    section: 'RFC 6749 §4.1.1',
    severity: 'must',
    sentence: 'A request without client_id is refused.',
    fix: 'client_id is required: respond with 400 and a page.',
    test: neverRedirects(...without('client_id'))
  },
  {
    id: 'authorize.missing-redirect-uri',
    section: 'RFC 6749 §4.1.1',
    severity: 'must',
    sentence: 'A request without redirect_uri is refused.',
    fix:
      'The portal always sends redirect_uri: respond with 400 and a page, also where only one ' +
      'is registered.',
    after: ['authorize.foreign-redirect-uri'],
    test: givesNoCode(...without('redirect_uri'))
  },
  {
    id: 'authorize.response-type',
    section: 'RFC 6749 §3.1.1',
    severity: 'must',
    sentence: 'Another response_type than code gives no code.',
    fix: 'Accept response_type=code only.',
    test: givesNoCode({ response_type: 'unknown' }, ...without('response_type'))
  },
  {
    id: 'authorize.login-needed',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'A browser whose user is not logged in gets no code.',
    fix:
      'Ask the session who the user is before a code is issued; currentUser returns null where ' +
      'nobody is logged in.',
    after: ['login.page'],
    test: async (service) => {
      expectNoCode(await service.loggedOut())
      // The first response may have begun a session, which is not that of a user.
      expectNoCode(await service.authorize({}, service.anonymous), 'at the second try: ')
    }
  },
  {
    id: 'authorize.eligibility',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'must',
    sentence: 'A user who may not use the portal gets no code.',
    fix: 'Ask for each user whether they may use the portal, before a code is issued.',
    test: async (service) => {
      expectNoCode(await ineligible(service))
      expectNoCode(await ineligible(service), 'at the second try: ')
    }
  },
  {
    id: 'authorize.access-denied',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'should',
    sentence: 'A user who may not use the portal is sent back to it with error=access_denied.',
    fix: 'Redirect to the redirect_uri with error=access_denied and the state.',
    after: ['authorize.eligibility', 'authorize.state'],
    test: async (service) => expectError(await ineligible(service), 'access_denied')
  },
  {
    id: 'authorize.cors',
    section: 'RFC 9700 §2.6',
    severity: 'must',
    sentence: 'Other origins cannot read the response (no CORS).',
    fix:
      'Exempt /oauth/authorize from the application’s CORS headers: browsers are sent there by ' +
      'a redirect.',
    async test ({ integration }) {
      const headers = [['Origin', 'https://foreign.example']] as const
      const url = authorizeUrl(integration, 'the-state')
      const { response } = await integration.send({ method: 'GET', url, headers })
      const allowed = header(response, 'access-control-allow-origin')
      // A preflight alone allows nothing: browsers need the header on this response.
      expect(allowed === '', `Access-Control-Allow-Origin: ${allowed}`)
    }
  },
  {
    id: 'authorize.error-redirect',
    section: 'RFC 6749 §4.1.2.1',
    severity: 'should',
    sentence:
      'Another response_type leads to a redirect with error=unsupported_response_type and the ' +
      'state.',
    fix: 'Redirect to the redirect_uri with error and the received state.',
    after: ['authorize.response-type', 'authorize.state'],
    async test (service) {
      const arrival = await service.authorize({ response_type: 'unknown', state: 'the-state' })
      expectError(arrival, 'unsupported_response_type')
    }
  },
  {
    id: 'authorize.state-needed',
    section: 'RFC 6749 §10.12',
    severity: 'should',
    sentence: 'A request without state gives no code.',
    fix:
      'Redirect to the redirect_uri with error=invalid_request: ' +
      'without state the portal does not know whose sign-in it is.',
    test: givesNoCode(...without('state'))
  },
  {
    id: 'authorize.repeated',
    section: 'RFC 6749 §3.1',
    severity: 'should',
    sentence: 'A repeated parameter is an error.',
    fix: 'Refuse a request with a repeated parameter: two readers may see two values.',
    async test (service) {
      const { clientId, redirectUri } = service.integration
      const values = {
        client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'the-state'
      }
      const parameters = new URLSearchParams({ ...values, redirect_uri: FOREIGN })
      const posted =
        await service.browser.open(service.integration.authorizeUrl, 'POST', parameters.toString())
      const isLed = String(targetOf(posted)).startsWith(FOREIGN)
      expect(!isLed, `by POST: ${describe(posted.exchange)}`, undefined, 'must')
      for (const uris of [[redirectUri, FOREIGN], [FOREIGN, redirectUri]]) {
        const arrival = await service.authorize({ redirect_uri: uris })
        const got = `with redirect_uri=${uris.join(' and ')}: ${describe(arrival.exchange)}`
        expect(!String(targetOf(arrival)).startsWith(FOREIGN), got, undefined, 'must')
      }
      await givesNoCode(...repeated(values).map(({ changes = {} }) => changes))(service)
    }
  },
  {
    id: 'authorize.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD issues no code.',
    fix:
      'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false): link checkers ' +
      'and scanners send HEAD.',
    test: async (service) => expectNoCode(await service.authorize({}, service.browser, 'HEAD'))
  },
  {
    id: 'authorize.temporary-redirect',
    section: 'RFC 9700 §4.12',
    severity: 'should',
    sentence: 'The redirect to the portal is 302 or 303.',
    fix:
      'Redirect with 302: browsers cache 301 and 308, and send a login form on with 307 and ' +
      '308.',
    async test (service) {
      const status = statusOf((await service.granted()).arrival.exchange)
      expect(status === 302 || status === 303, `${status}`)
    }
  },
  {
    id: 'authorize.no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'The redirect with the code must not be cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoint.',
    test: async (service) => expectNoStore((await service.granted()).arrival.exchange)
  },
  {
    id: 'authorize.referrer',
    section: 'RFC 9700 §4.2.4',
    severity: 'should',
    sentence: 'The address with its parameters is not sent on as referrer.',
    fix: 'Send Referrer-Policy: no-referrer.',
    test: async (service) => expectNoReferrer((await service.granted()).arrival.exchange)
  },
  {
    id: 'authorize.framing',
    section: 'RFC 9700 §4.16',
    severity: 'should',
    sentence: 'The endpoint cannot be framed.',
    fix: 'Send Content-Security-Policy: frame-ancestors \'none\' and X-Frame-Options: DENY.',
    test: async (service) =>
      expectUnframed((await service.authorize({ client_id: undefined })).exchange)
  }
]

/**
 * Where a user arrives who may not enter. @throws Untested where none was given, or the user is not
 * logged in
 */
async function ineligible (service: Service): Promise<Arrival> {
  const { ineligible, material } = service.settings
  if (material.ineligible !== undefined) return material.ineligible
  if (ineligible === null) throw new Untested('it needs --ineligible-cookie')
  const arrival = await service.authorize({}, service.browserOf(ineligible))
  if (alike(arrival, await service.loggedOut())) {
    throw new Untested('the cookie of --ineligible-cookie logs nobody in')
  }
  return arrival
}

function named (state: string): string {
  if (state === '') return 'no state'
  return state.length > LONGEST ? `a state of ${state.length} characters` : state
}
