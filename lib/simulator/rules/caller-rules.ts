import { codeOf } from '../../flow/browser.ts'
import type { Changes } from '../../flow/requests.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Send } from '../../flow/wire.ts'
import { describe } from '../../flow/failure.ts'
import { Untested } from './errors.ts'
import type { Wrong } from './nearest.ts'
import { expectRefusal, refusesEach, withBody } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const CREDENTIALS = 'Require the client_id and the client_secret of the portal, whatever else the request has.'

/** A request of somebody who has a code, and not the client_secret. */
interface Impostor {
  how: string
  changes?: Changes
  caller?: Partial<Integration>
}

/** With which a proxy says who the user is. */
const USER_HEADERS = ['X-User', 'X-User-Id', 'X-Forwarded-User', 'X-Remote-User', 'Remote-User', 'X-Auth-Request-Email']

/** The parameters of GET are in the URL, and so in logs. */
const METHODS: Wrong[] = [
  { how: 'GET', value: 'GET' },
  ...['PUT', 'PATCH', 'DELETE'].map((method): Wrong => ({ how: method, value: method, severity: 'should' }))
]

/** Who may ask the endpoints, and by which kind of request. */
export const CALLER_RULES: readonly Rule[] = [
  {
    id: 'token.impostor',
    section: 'RFC 6749 §3.2.1',
    severity: 'must',
    sentence: 'Without the client_secret there is no token.',
    fix: CREDENTIALS,
    after: ['token.missing-secret', 'token.wrong-secret', 'token.unknown-client'],
    test: async (service) => {
      for (const { how, changes, caller } of impostors(service)) {
        const form = { clientAuthentication: 'form' as const, ...caller }
        await refusesEach('a request', [{ how, value: '' }], async () =>
          expectRefusal(await service.redeem(await service.code(), changes, form)))
      }
    }
  },
  {
    id: 'token.other-client',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'A code is of no use to another client than the one it was issued to.',
    fix: 'Keep the client_id with the code, and compare it with that of the authenticated client.',
    test: async (service) => {
      const { second } = service.settings
      if (second === null) throw new Untested('it needs --second-client-id and its secret')
      const { exchange } = await service.redeem({ code: 'an-unknown-code' }, {}, second)
      const isKnown = exchange.response?.status === 400
      expectRefusal(await service.redeem(await service.code(), {}, second))
      if (!isKnown) throw new Untested(`the second client is refused for itself: ${describe(exchange)}`)
    }
  },
  {
    id: 'token.mixed-credentials',
    section: 'RFC 6749 §2.3.1',
    severity: 'must',
    sentence: 'The secret of one client does not authenticate another one.',
    fix: 'Compare the client_secret with that of the client_id of the request.',
    test: async (service) => {
      const { second } = service.settings
      if (second === null) throw new Untested('it needs --second-client-id and its secret')
      const mixed = [{ clientSecret: second.clientSecret }, { clientId: second.clientId }]
      for (const caller of mixed) expectRefusal(await service.redeem(await service.code(), {}, caller))
    }
  },
  {
    id: 'token.method',
    section: 'RFC 6749 §3.2',
    severity: 'must',
    sentence: 'Only POST gets a token.',
    fix: 'Register the endpoint for POST alone.',
    test: async (service) => {
      const { send } = service.integration
      await refusesEach('method', METHODS, async (method) =>
        expectRefusal(await service.redeem(await service.code(), {}, { send: by(send, method) })))
    }
  },
  {
    id: 'token.two-credentials',
    section: 'RFC 6749 §2.3',
    severity: 'should',
    sentence: 'Two ways of authentication in one request are refused.',
    fix: 'Refuse a request that has both a client_secret and an Authorization header.',
    after: ['token.wrong-secret'],
    test: async (service) => {
      const right = { client_id: service.integration.clientId, client_secret: service.integration.clientSecret }
      const basic = { clientAuthentication: 'basic' as const, clientSecret: 'not-the-secret' }
      expectRefusal(await service.redeem(await service.code(), right, basic))
    }
  }
]

/** Needs the record: it names the user. */
export const CLAIMED_USER_RULE: Rule = {
  id: 'authorize.claimed-user',
  section: 'RFC 6749 §10.3',
  severity: 'must',
  sentence: 'Nobody gets a code for a user whom the request merely names.',
  fix: 'Take the user from the session alone: not from a parameter, and not from a header that any browser can send.',
  after: ['authorize.login-needed'],
  test: async (service) => {
    const { external_id: id = '1', email = 'ada@partner.example' } = service.record ?? {}
    for (const text of [id, email]) {
      const names = ['user', 'user_id', 'external_id', 'login_hint', 'email', 'sub', 'uid', 'username']
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

/** The requests of somebody who has a code and does not know the secret. */
function impostors (service: Service): Impostor[] {
  const { integration: { clientId, send }, browser, settings: { user } } = service
  const without: Changes = { client_secret: undefined }
  const claims = base64url(JSON.stringify({ iss: clientId, sub: clientId, exp: 9_999_999_999 }))
  const assertion = { client_assertion_type: ASSERTION, client_assertion: `${base64url('{"alg":"none"}')}.${claims}.` }
  const authorized = (value: string): Partial<Integration> => ({ send: withHeader(send, 'Authorization', value) })
  const cookies = browser.jar.header(new URL(service.integration.tokenUrl))
  return [
    { how: 'without client_id and client_secret', changes: { ...without, client_id: undefined } },
    { how: 'with the client_id as its client_secret', changes: { client_secret: clientId } },
    { how: 'with an empty client_secret', changes: { client_secret: '' } },
    { how: 'with Basic and no password', changes: without, caller: authorized(basic(`${clientId}:`)) },
    { how: 'with Basic and an empty name', changes: without, caller: authorized(basic(':')) },
    { how: 'with a Bearer token', changes: without, caller: authorized('Bearer a-token') },
    { how: 'with an unsigned client_assertion', changes: { ...without, ...assertion } },
    { how: 'with the cookies of the user', changes: without, caller: { send: withHeader(send, 'Cookie', cookies) } },
    ...user.headers.map(([name, value]): Impostor => {
      const caller = { send: withHeader(send, name, value) }
      return { how: `with the header ${name} of the user`, changes: without, caller }
    }),
    ...['client_secret[]', 'client_secret[$ne]', 'client_secret[0]'].map((name): Impostor =>
      ({ how: `with ${name} in place of client_secret`, changes: { ...without, [name]: 'x' } }))
  ]
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

const withHeader = (send: Send, name: string, value: string): Send => (request) =>
  send({ ...request, headers: [...request.headers, [name, value]] })

/** The token request with another method; GET has its parameters in the URL. */
const by = (send: Send, method: string): Send => ({ body, ...request }) => method === 'GET'
  ? send({ ...request, method, url: `${request.url}?${body}` })
  : send({ ...request, ...withBody(request.headers, String(body)), method })
