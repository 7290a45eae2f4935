import { describe, oauthError } from '../../flow/failure.ts'
import type { Edit } from '../../flow/legs.ts'
import type { Changes } from '../../flow/requests.ts'
import type { Integration } from '../../flow/integration.ts'
import { statusOf } from '../../flow/wire.ts'
import { Untested } from './errors.ts'
import { expectChallenge, expectNoStore } from './headers.ts'
import { shouldSucceed, withCode } from './in-time.ts'
import { oneWinner, RACERS } from './races.ts'
import { expectRefusal, refusesEach } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'

const CODES = [
  'invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'
]
const UNKNOWN = { code: 'an-unknown-code' }
const WRONG_SECRET = { clientSecret: 'not-the-secret' }

/** RFC 6749 §4.1.2: seconds that a code may live at most. */
const LONGEST_LIFETIME = 600
/** Seconds of the deadline that the other rules need. */
const SPARE = 60

/** One wrong or missing parameter beside a good code. */
interface Refused extends Pick<Rule, 'id' | 'section' | 'sentence' | 'fix'> {
  changes?: Changes
  /** What the portal has wrong. */
  caller?: Partial<Integration>
}

const refuses = ({ changes, caller, ...rule }: Refused): Rule => ({
  ...rule,
  severity: 'must',
  test: async (service) => expectRefusal(await service.redeem(await service.code(), changes, caller))
})

/** `POST /oauth/token`. */
export const TOKEN_RULES: readonly Rule[] = [
  refuses({
    id: 'token.wrong-secret',
    section: 'RFC 6749 §3.2.1',
    sentence: 'A wrong client_secret is refused.',
    fix: 'Compare the secret, in constant time, before anything is issued.',
    caller: WRONG_SECRET
  }),
  refuses({
    id: 'token.unknown-client',
    section: 'RFC 6749 §3.2.1',
    sentence: 'An unknown client_id is refused.',
    fix: 'Compare the client_id with the one given to the integration.',
    caller: { clientId: 'nobody' }
  }),
  refuses({
    id: 'token.missing-secret',
    section: 'RFC 6749 §3.2.1',
    sentence: 'A request without client_secret is refused.',
    fix: 'client_secret is required.',
    changes: { client_secret: undefined },
    caller: { clientSecret: '' }
  }),
  refuses({
    id: 'token.foreign-redirect-uri',
    section: 'RFC 6749 §4.1.3',
    sentence: 'Another redirect_uri than the registered one is refused.',
    fix: 'Compare the redirect_uri with the registered one as whole strings.',
    changes: { redirect_uri: 'https://foreign.example/callback' }
  }),
  refuses({
    id: 'token.missing-redirect-uri',
    section: 'RFC 6749 §4.1.3',
    sentence: 'A request without redirect_uri is refused.',
    fix: 'redirect_uri is required.',
    changes: { redirect_uri: undefined }
  }),
  refuses({
    id: 'token.grant-type',
    section: 'RFC 6749 §4.1.3',
    sentence: 'Another grant_type is refused.',
    fix: 'Accept grant_type=authorization_code only.',
    changes: { grant_type: 'password' }
  }),
  refuses({
    id: 'token.missing-grant-type',
    section: 'RFC 6749 §4.1.3',
    sentence: 'A request without grant_type is refused.',
    fix: 'grant_type is required.',
    changes: { grant_type: undefined }
  }),
  refuses({
    id: 'token.unknown-code',
    section: 'RFC 6749 §5.2',
    sentence: 'An unknown code is refused.',
    fix: 'Look the code up among those issued.',
    changes: UNKNOWN
  }),
  refuses({
    id: 'token.missing-code',
    section: 'RFC 6749 §4.1.3',
    sentence: 'A request without code is refused.',
    fix: 'code is required.',
    changes: { code: undefined }
  }),
  {
    id: 'token.replayed-code',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A used code is refused.',
    fix: 'Remove the code when it is used, in one atomic command.',
    after: ['token.unknown-code'],
    test: async (service) => expectRefusal(await service.redeem(await service.redeemed()))
  },
  {
    id: 'token.race',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same code at the same time at most one gets a token.`,
    fix: 'Read and remove the code in one atomic command (Redis: GETDEL), not one after the other.',
    after: ['token.unknown-code', 'token.replayed-code'],
    test: oneWinner(async (service) => {
      const grant = await service.code()
      return async () => (await service.redeem(grant)).reading.ok
    })
  },
  {
    id: 'token.code-lifetime',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A code expires.',
    fix: 'Let codes expire shortly after they were issued, within ten minutes at most.',
    after: ['token.unknown-code'],
    async test (service) {
      const { codeLifetime, deadline, wait } = service.settings
      const seconds = codeLifetime ?? (deadline > LONGEST_LIFETIME + SPARE ? LONGEST_LIFETIME : null)
      if (seconds === null) throw new Untested('it needs --code-lifetime')
      const grant = await service.code()
      await wait(seconds * 1000 + 1000, service.signal)
      expectRefusal(await service.redeem(grant))
    }
  },
  {
    id: 'token.access-token-as-code',
    section: 'RFC 6749 §1.3.1, §1.4',
    severity: 'must',
    sentence: 'An access token is no code.',
    fix: 'Keep codes and tokens apart.',
    after: ['token.unknown-code'],
    test: async (service) => expectRefusal(await service.redeem({ code: await service.accessToken() }))
  },
  {
    id: 'token.no-store',
    section: 'RFC 6749 §5.1',
    severity: 'must',
    sentence: 'The response with the token must not be cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoint.',
    async test (service) {
      const { exchange } = await service.token(await service.code())
      expectNoStore(exchange)
    }
  },
  {
    id: 'token.error',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'The response to an unknown code is 400, JSON and the error invalid_grant.',
    fix: 'Send 400 and {"error":"invalid_grant"} as application/json.',
    after: ['token.unknown-code'],
    async test (service) {
      const { exchange } = await service.redeem(UNKNOWN)
      expect(statusOf(exchange) === 400 && oauthError(exchange.response) === 'invalid_grant', describe(exchange))
    }
  },
  {
    id: 'token.error-codes',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'The response to an incomplete request is a JSON error of the RFC.',
    fix: 'Send 400 and {"error":"invalid_request"} as application/json.',
    after: ['token.error'],
    async test (service) {
      const { exchange } = await service.redeem(UNKNOWN, { grant_type: undefined })
      expect(CODES.includes(String(oauthError(exchange.response))), describe(exchange))
    }
  },
  {
    id: 'token.client-challenge',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence:
      'The response to a wrong secret is 401, WWW-Authenticate: Basic and the error ' +
      'invalid_client.',
    fix: 'Send 401 with WWW-Authenticate: Basic and {"error":"invalid_client"}.',
    after: ['token.wrong-secret', 'token.error'],
    async test (service) {
      const { exchange } = await service.redeem(UNKNOWN, {}, WRONG_SECRET)
      expectChallenge(exchange, 'Basic')
      expect(oauthError(exchange.response) === 'invalid_client', describe(exchange))
    }
  },
  {
    id: 'token.basic',
    section: 'RFC 6749 §2.3.1',
    severity: 'should',
    sentence: 'The credentials are accepted as HTTP Basic, too.',
    fix: 'Read Authorization: Basic, each part form-decoded.',
    test: withCode(async (service, grant) =>
      shouldSucceed(await service.redeem(grant, {}, { clientAuthentication: 'basic' })))
  },
  {
    id: 'token.wrong-caller-burns-nothing',
    section: 'RFC 6749 §10.5',
    severity: 'should',
    sentence: 'A request with a wrong secret is refused and leaves the code as it was.',
    fix:
      'Check the credentials before the code is taken: else anyone who saw a code can spoil the ' +
      'sign-in.',
    after: ['token.wrong-secret'],
    test: withCode(async (service, grant) => {
      expectRefusal(await service.redeem(grant, {}, WRONG_SECRET))
      return shouldSucceed(await service.redeem(grant))
    })
  },
  {
    id: 'token.form-only',
    section: 'RFC 6749 §4.1.3',
    severity: 'should',
    sentence: 'Another body than a form is refused.',
    fix: 'Accept application/x-www-form-urlencoded only.',
    async test (service) {
      const { send } = service.integration
      expectRefusal(await service.redeem(await service.code(), {}, { send: (request) => send(asJson(request)) }))
      expectRefusal(await service.redeem(await service.code(), {}, { send: (request) => send(asText(request)) }))
    }
  },
  {
    id: 'token.credentials-in-url',
    section: 'RFC 6749 §2.3.1',
    severity: 'must',
    sentence: 'Credentials in the URL are refused.',
    fix: 'Read credentials from the body or the Authorization header only: URLs end up in logs.',
    async test (service) {
      const { clientId, clientSecret, tokenUrl } = service.integration
      const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret })
      const changes = { client_id: undefined, client_secret: undefined }
      const caller = { tokenUrl: `${tokenUrl}?${query}`, clientAuthentication: 'form' as const }
      expectRefusal(await service.redeem(await service.code(), changes, caller))
    }
  },
  {
    id: 'token.repeated',
    section: 'RFC 6749 §3.2',
    severity: 'should',
    sentence: 'A repeated parameter is an error.',
    fix: 'Refuse a request with a repeated parameter.',
    async test (service) {
      const { redirectUri, clientId, clientSecret, clientAuthentication } = service.integration
      const credentials = clientAuthentication === 'form' ? { client_id: clientId, client_secret: clientSecret } : {}
      const values = { ...credentials, redirect_uri: redirectUri, grant_type: 'authorization_code', code: null }
      for (const [name, value] of Object.entries(values)) {
        for (const pairOf of PAIRS) {
          const grant = await service.code()
          const changes = { [name]: pairOf(value ?? grant.code) }
          await refusesEach(name, [{ how: 'twice', value: '' }], async () =>
            expectRefusal(await service.redeem(grant, changes)))
        }
      }
    }
  }
]

/** A parameter twice: two readers may see two values. */
const PAIRS = [
  (value: string) => [value, value],
  (value: string) => [value, 'another-value'],
  (value: string) => ['another-value', value]
]

/** Needs the user endpoint as well. */
export const REPLAY_RULE: Rule = {
  id: 'token.replay-revokes',
  section: 'RFC 6749 §4.1.2',
  severity: 'should',
  sentence: 'When a code is used twice, the token that it gave is revoked.',
  fix: 'On a replay revoke the token that the code gave: one of the two callers is a thief.',
  after: ['token.unknown-code', 'token.replayed-code', 'user.unknown-token', 'user.record'],
  async test (service) {
    const grant = await service.code()
    const { token } = await service.token(grant)
    await service.redeem(grant)
    expect(!(await service.user(token)).reading.ok, 'the record, for the token of the replayed code')
  }
}

const asText: Edit = (request) => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, name === 'Content-Type' ? 'text/plain' : value])
})

const asJson: Edit = (request) => {
  const headers = request.headers.filter(([name]) => name !== 'Content-Type')
  const body = JSON.stringify(Object.fromEntries(new URLSearchParams(request.body)))
  return { ...request, headers: [...headers, ['Content-Type', 'application/json']], body }
}
