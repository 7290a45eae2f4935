import { codeOf, targetOf } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import { randomText } from '../../flow/requests.ts'
import { Untested } from './errors.ts'
import { otherCharacter } from './nearest.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import { sentToPortal } from './service.ts'

export const IGNORE = 'Ignore parameters that you do not know: ' +
  'otherwise sign-ins fail as soon as the portal sends a new one.'
export const UNKNOWN_PARAMETER = { an_unknown_parameter: 'x' }

/** Headers in which a proxy names the user. */
const USER_HEADERS = [
  'X-User', 'X-User-Id', 'X-User-Email', 'X-Forwarded-User', 'X-Forwarded-Email',
  'X-Forwarded-Preferred-Username', 'X-Remote-User', 'Remote-User', 'X-Auth-Request-User',
  'X-Auth-Request-Email', 'X-Authenticated-User', 'X-Original-User'
]

/** `GET /oauth/authorize`: unusual requests. */
export const AUTHORIZE_REQUEST_RULES: readonly Rule[] = [
  {
    id: 'authorize.unknown-parameter',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'Unknown parameters are ignored.',
    fix: IGNORE,
    test: async (service) => {
      const arrival = await service.authorize(UNKNOWN_PARAMETER)
      expect(codeOf(arrival) !== null, `with an_unknown_parameter=x: ${describe(arrival.exchange)}`)
      const { arrival: proven, code } = await service.request(randomText())
      expect(code !== null, `with a code_challenge: ${describe(proven.exchange)}`)
    }
  },
  {
    id: 'authorize.states-apart',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'Each of several requests at the same time gets its own state back.',
    fix:
      'Keep the state with the request, not in a variable or a session that another request ' +
      'changes.',
    after: ['authorize.state'],
    test: async (service) => {
      const states = Array.from({ length: 8 }, (_none, number) => `state-${number}`)
      const arrivals = await Promise.all(states.map((state) => service.authorize({ state })))
      for (const [at, arrival] of arrivals.entries()) {
        const sent = sentToPortal(arrival).getAll('state').join()
        if (arrival.at === 'callback') expect(sent === states[at], `${sent}, for ${states[at]}`)
      }
    }
  },
  {
    id: 'authorize.forwarded-host',
    section: 'RFC 9700 §4.13',
    severity: 'should',
    sentence: 'A header of the request does not lead the browser to another host.',
    fix: 'Redirect to paths, or to a configured host; let the proxy overwrite X-Forwarded-Host.',
    test: async (service) => {
      for (const name of FORWARDED) {
        const headers = [[name, 'foreign.example']] as const
        const arrival = await service.authorize({}, service.browserOf({ cookies: [], headers }))
        const isLed = /^\w+:\/\/foreign\.example\b/.test(String(targetOf(arrival)))
        expect(!isLed, `with ${name}: foreign.example: ${describe(arrival.exchange)}`)
      }
    }
  },
  {
    id: 'authorize.callback-parameters',
    section: 'RFC 6749 §4.1.2',
    severity: 'should',
    sentence: 'The portal gets code and state, and nothing of the user.',
    fix: 'Send code and state only: the address is in the history of the browser and in logs.',
    test: async (service) => {
      const { arrival } = await service.granted()
      const own = new URL(service.integration.redirectUri).searchParams
      const more = [...sentToPortal(arrival).keys()]
        .filter((name) => !own.has(name) && !EXPECTED.includes(name))
      expect(more.length === 0, `also ${more.join(', ')}`)
    }
  }
]

/** RFC 6749, RFC 9207, OpenID Connect Session Management. */
const EXPECTED = ['code', 'state', 'iss', 'session_state', 'scope']

/** Headers in which a proxy names the host that was requested. */
const FORWARDED = ['X-Forwarded-Host', 'X-Host', 'X-Original-Host']

/** Where a character of a cookie is changed. */
const PLACES = { first: 0, middle: 0.5, last: 1 }

const changedAt = (text: string, place: number): string => {
  const at = Math.round(place * (text.length - 1))
  return text.slice(0, at) + otherCharacter(text.charAt(at)) + text.slice(at + 1)
}

/** Changes all cookies of the user: the service may need only one of several. */
export const FORGED_SESSION_RULE: Rule = {
  id: 'authorize.forged-session',
  section: 'RFC 6749 §10.3',
  severity: 'must',
  sentence: 'A session cookie that was changed logs nobody in.',
  fix:
    'Make the session identifier of 128 random bits and look it up as a whole text, or verify a ' +
    'signature over the whole cookie.',
  after: ['authorize.login-needed'],
  test: async (service) => {
    const { cookies } = service.settings.user
    if (cookies.length === 0) throw new Untested('no cookie is known')
    for (const [name, place] of Object.entries(PLACES)) {
      const forged = cookies.map((cookie) =>
        ({ ...cookie, value: changedAt(cookie.value, place) }))
      const arrival = await service.authorize({}, service.browserOf({ cookies: forged, headers: [] }))
      const got = `the cookie with another ${name} character: ${describe(arrival.exchange)}`
      expect(codeOf(arrival) === null, got)
    }
  }
}

/** Needs the record, which has the identifiers of the user. */
export const CLAIMED_USER_RULE: Rule = {
  id: 'authorize.claimed-user',
  section: 'RFC 6749 §10.3',
  severity: 'must',
  sentence: 'Nobody gets a code for a user whom the request merely names.',
  fix:
    'Take the user from the session alone: not from a parameter, and not from a header that any ' +
    'browser can send.',
  after: ['authorize.login-needed'],
  test: async (service) => {
    const { external_id: id = '1', email = 'ada@partner.example' } = service.record ?? {}
    for (const text of [id, email]) {
      const names = [
        'user', 'user_id', 'external_id', 'login_hint', 'email', 'sub', 'uid', 'username'
      ]
      const parameters = Object.fromEntries(names.map((name) => [name, text]))
      const arrival = await service.authorize(parameters, service.browserOf())
      expect(codeOf(arrival) === null, `with user=${text}: ${describe(arrival.exchange)}`)
      // A proxy in front may know its users by a header, and remove the one that a browser sends.
      if (service.settings.user.headers.length > 0) continue
      const headers = USER_HEADERS.map((name) => [name, text] as const)
      const named = await service.authorize({}, service.browserOf({ cookies: [], headers }))
      const got = `with the header X-User: ${text} or one like it: ${describe(named.exchange)}`
      expect(codeOf(named) === null, got, undefined, 'should')
    }
  }
}
