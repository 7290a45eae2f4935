import { isDeepStrictEqual } from 'node:util'
import { codeOf } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import type { Edit } from '../../flow/legs.ts'
import type { Changes } from '../../flow/requests.ts'
import type { WireRequest } from '../../flow/wire.ts'
import { randomText } from '../../flow/requests.ts'
import { Failed, Untested } from './errors.ts'
import { shouldSucceed, withCode, withToken } from './in-time.ts'
import type { Wrong } from './nearest.ts'
import { expectRefusal, refusesEach, withBody } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import { sentToPortal } from './service.ts'

const IGNORE = 'Ignore parameters that you do not know: the day the portal sends one more, its users are locked out.'
const UNKNOWN: Changes = { an_unknown_parameter: 'x' }

/** `GET /oauth/authorize`: requests beside the good one. */
export const AUTHORIZE_REQUEST_RULES: readonly Rule[] = [
  {
    id: 'authorize.unknown-parameter',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'Unknown parameters are ignored.',
    fix: IGNORE,
    test: async (service) => {
      const arrival = await service.authorize(UNKNOWN)
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
    fix: 'Keep the state with the request, not in a variable or a session that another request changes.',
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
    id: 'authorize.callback-parameters',
    section: 'RFC 6749 §4.1.2',
    severity: 'should',
    sentence: 'The portal gets code and state, and nothing of the user.',
    fix: 'Send code and state only: the address is in the history of the browser and in logs.',
    test: async (service) => {
      const { arrival } = await service.granted()
      const own = new URL(service.integration.redirectUri).searchParams
      const more = [...sentToPortal(arrival).keys()].filter((name) => !own.has(name) && !EXPECTED.includes(name))
      expect(more.length === 0, `also ${more.join(', ')}`)
    }
  }
]

/** RFC 6749, RFC 9207, OpenID Connect Session Management. */
const EXPECTED = ['code', 'state', 'iss', 'session_state', 'scope']

/** `POST /oauth/token` and `GET /oauth/user`: requests beside the good one, and refused ones sent again. */
export const REQUEST_RULES: readonly Rule[] = [
  {
    id: 'token.unknown-parameter',
    section: 'RFC 6749 §3.2',
    severity: 'must',
    sentence: 'Unknown parameters are ignored.',
    fix: IGNORE,
    test: withCode(async (service, grant) => {
      const leg = await service.redeem(grant, UNKNOWN)
      return shouldSucceed(leg, `with an_unknown_parameter=x: ${describe(leg.exchange)}`)
    })
  },
  {
    id: 'token.second-try',
    section: 'RFC 6749 §5.2',
    severity: 'must',
    sentence: 'A refused request is refused again, however often it is sent.',
    fix: 'Decide each request by itself: a refusal must not leave anything behind that lets the next one through.',
    after: ['token.wrong-secret', 'token.unknown-code', 'token.replayed-code'],
    test: async (service) => {
      for (const [how, changes] of Object.entries(REFUSED)) {
        const grant = await service.code()
        await refusedAgain(how, () => service.redeem(grant, changes))
      }
      const { code } = await service.granted(randomText())
      await refusedAgain('a wrong code_verifier', () => service.redeem({ code, verifier: randomText() }))
      const used = await service.code()
      await service.token(used)
      await refusedAgain('a used code', () => service.redeem(used))
    }
  },
  {
    id: 'token.respelt-code',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A used code is refused in every spelling.',
    fix: 'Remember the use of what the code stands for, not of its text: a decoder reads several texts alike.',
    after: ['token.unknown-code', 'token.replayed-code'],
    test: async (service) => {
      const grant = await service.code()
      await service.token(grant)
      const { verifier } = grant
      await refusesEach('a used code', respelt(grant.code), async (code) =>
        expectRefusal(await service.redeem({ code, verifier })))
    }
  },
  {
    id: 'user.second-try',
    section: 'single use',
    severity: 'must',
    sentence: 'A refused request is refused again, however often it is sent.',
    fix: 'Remove the token when it is used, for good.',
    after: ['user.replayed-token'],
    test: async (service) => {
      const token = await service.accessToken()
      await service.user(token)
      await refusedAgain('a used token', () => service.user(token))
      await refusedAgain('an unknown token', () => service.user('an-unknown-token'))
    }
  },
  {
    id: 'user.respelt-token',
    section: 'single use',
    severity: 'must',
    sentence: 'A used token is refused in every spelling.',
    fix: 'Remember the use of what the token stands for, not of its text: a decoder reads several texts alike.',
    after: ['user.unknown-token', 'user.replayed-token'],
    test: async (service) => {
      const token = await service.accessToken()
      await service.user(token)
      await refusesEach('a used token', respelt(token), async (other) => expectRefusal(await service.user(other)))
    }
  },
  {
    id: 'user.token-lifetime',
    section: 'RFC 6750 §5.3',
    severity: 'must',
    sentence: 'A token expires.',
    fix: 'Let tokens expire within an hour at most.',
    after: ['user.unknown-token'],
    test: async (service) => {
      const { tokenLifetime, wait } = service.settings
      if (tokenLifetime === null) throw new Untested('it needs --token-lifetime')
      const token = await service.accessToken()
      await wait(tokenLifetime * 1000 + 1000, service.signal)
      expectRefusal(await service.user(token))
    }
  },
  {
    id: 'user.parameters',
    section: 'RFC 6750 §2.1',
    severity: 'must',
    sentence: 'The record is that of the token, whatever else the request says.',
    fix: 'Read the user from the token alone.',
    test: withToken(async (service, token) => {
      const names = ['external_id', 'id', 'user', 'user_id', 'sub', 'email', 'uid']
      const query = new URLSearchParams(names.map((name) => [name, 'somebody-else']))
      const own = service.record
      const leg = await service.user(token, (request) => ({ ...request, url: `${request.url}?${query}` }))
      const got = `with external_id=somebody-else: ${describe(leg.exchange)}`
      const failure = isDeepStrictEqual(own, service.record) ? null : new Failed(`${got}, and another record`)
      return leg.reading.ok ? { exchange: leg.exchange, failure } : shouldSucceed(leg, got)
    })
  },
  {
    id: 'user.other-places',
    section: 'RFC 6750 §2',
    severity: 'should',
    sentence: 'A token is read in the Authorization header with the scheme Bearer only.',
    fix: 'Read Authorization: Bearer only: not cookies, not the body, not another header or scheme.',
    after: ['user.no-token'],
    test: async (service) => {
      for (const { how, edit } of PLACES) {
        await refusesEach('a token', [{ how, value: '' }], async () => {
          const token = await service.accessToken()
          expectRefusal(await service.user(token, edit(token)))
        })
      }
    }
  }
]

/** Token requests that are refused. */
const REFUSED: Record<string, Changes> = {
  'an unknown code': { code: 'an-unknown-code' },
  'no code': { code: undefined },
  'another redirect_uri': { redirect_uri: 'https://foreign.example/callback' },
  'another grant_type': { grant_type: 'password' },
  'a wrong client_secret': { client_secret: 'not-the-secret' },
  'an unknown client_id': { client_id: 'nobody' }
}

const TRIES = 4

/** That the first one is refused is the subject of other rules. */
async function refusedAgain (how: string, send: () => Promise<Parameters<typeof expectRefusal>[0]>): Promise<void> {
  for (let time = 1; time <= TRIES; time++) {
    const leg = await send()
    if (leg.reading.ok && time === 1) return
    expect(!leg.reading.ok, `${how}, sent ${time} times: ${describe(leg.exchange)}`)
  }
}

/** Texts that a decoder of Base64, of URLs or of JWT may read as the same one. */
function respelt (text: string): Wrong[] {
  const last = text.charAt(text.length - 1)
  const at = ALPHABET.indexOf(last)
  const unused = at === -1 ? last : ALPHABET.charAt(at ^ 1)
  return [
    { how: 'with = at the end', value: `${text}=` },
    { how: 'with == at the end', value: `${text}==` },
    { how: 'with another unused bit', value: text.slice(0, -1) + unused },
    { how: 'with the letters of Base64', value: text.replaceAll('-', '+').replaceAll('_', '/') },
    { how: 'with a dot at the end', value: `${text}.` },
    { how: 'in capitals', value: text.toUpperCase() },
    { how: 'in small letters', value: text.toLowerCase() }
  ].filter(({ value }) => value !== text)
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const without: Edit = (request) =>
  ({ ...request, headers: request.headers.filter(([name]) => name !== 'Authorization') })

const withHeader = (name: string, value: (token: string) => string) => (token: string): Edit => (request) => {
  const { headers, ...others } = without(request)
  return { ...others, headers: [...headers, [name, value(token)]] }
}

const inForm = (method: string) => (token: string): Edit => (request) => {
  const form = withHeader('Content-Type', () => 'application/x-www-form-urlencoded')(token)(request)
  const body = new URLSearchParams({ access_token: token }).toString()
  return { ...form, ...withBody(form.headers, body), method }
}

const inUrl = (token: string): Edit => (request) =>
  ({ ...without(request), url: `${request.url}?${new URLSearchParams({ token }).toString()}` })

/** Where a token does not belong. */
const PLACES = [
  { how: 'in the cookie access_token', edit: withHeader('Cookie', (token) => `access_token=${token}; token=${token}`) },
  { how: 'in the header X-Access-Token', edit: withHeader('X-Access-Token', (token) => token) },
  { how: 'without a scheme', edit: withHeader('Authorization', (token) => token) },
  { how: 'with the scheme JWT', edit: withHeader('Authorization', (token) => `JWT ${token}`) },
  { how: 'with the scheme Token', edit: withHeader('Authorization', (token) => `Token ${token}`) },
  { how: 'with the scheme Basic', edit: withHeader('Authorization', (token) => `Basic ${token}`) },
  { how: 'in a form', edit: inForm('POST') },
  { how: 'in the body of GET', edit: inForm('GET') },
  { how: 'in the parameter token', edit: inUrl },
  ...['POST', 'PUT', 'DELETE'].map((method) =>
    ({ how: `in a request of ${method}`, edit: () => (request: WireRequest) => ({ ...request, method }) }))
]
