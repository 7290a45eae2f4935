import { describe, oauthError } from '../../flow/failure.ts'
import type { Edit } from '../../flow/legs.ts'
import type { Changes } from '../../flow/requests.ts'
import { randomText } from '../../flow/requests.ts'
import type { Integration } from '../../flow/settings.ts'
import type { Leg } from '../../flow/steps.ts'
import { statusOf } from '../../flow/wire.ts'
import { Untested } from './errors.ts'
import { expectChallenge, expectNoStore } from './headers.ts'
import { oneWinner, RACERS } from './races.ts'
import { expectRefusal } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect, inTime, must, should } from './rule.ts'

const CODES = [
  'invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'
]
const UNKNOWN = { code: 'an-unknown-code' }
const WRONG_SECRET = { clientSecret: 'not-the-secret' }

/** A rule on one wrong or missing parameter beside a good code. */
const refuses = (
  id: string, section: string, sentence: string, fix: string, changes: Changes, caller?: Partial<Integration>
): Rule => must(id, section, sentence, fix,
  async (service) => expectRefusal(await service.redeem(await service.code(), changes, caller)))

/** `POST /oauth/token`. */
export const TOKEN_RULES: readonly Rule[] = [
  refuses('token.wrong-secret', 'RFC 6749 §3.2.1', 'A wrong client_secret is refused.',
    'Compare the secret, in constant time, before anything is issued.', {}, WRONG_SECRET),
  refuses('token.unknown-client', 'RFC 6749 §3.2.1', 'An unknown client_id is refused.',
    'Compare the client_id with the one given to the portal.', {}, { clientId: 'nobody' }),
  refuses('token.missing-secret', 'RFC 6749 §3.2.1', 'A request without client_secret is refused.',
    'client_secret is required.', { client_secret: undefined }, { clientSecret: '' }),
  refuses('token.foreign-redirect-uri', 'RFC 6749 §4.1.3', 'Another redirect_uri than the registered one is refused.',
    'Compare the redirect_uri with the registered one as whole strings.',
    { redirect_uri: 'https://foreign.example/callback' }),
  refuses('token.missing-redirect-uri', 'RFC 6749 §4.1.3', 'A request without redirect_uri is refused.',
    'redirect_uri is required.', { redirect_uri: undefined }),
  refuses('token.grant-type', 'RFC 6749 §4.1.3', 'Another grant_type is refused.',
    'Accept grant_type=authorization_code only.', { grant_type: 'password' }),
  refuses('token.missing-grant-type', 'RFC 6749 §4.1.3', 'A request without grant_type is refused.',
    'grant_type is required.', { grant_type: undefined }),
  refuses('token.unknown-code', 'RFC 6749 §5.2', 'An unknown code is refused.',
    'Look the code up among those issued.', UNKNOWN),
  refuses('token.missing-code', 'RFC 6749 §4.1.3', 'A request without code is refused.',
    'code is required.', { code: undefined }),
  must('token.replayed-code', 'RFC 6749 §4.1.2', 'A used code is refused.',
    'Remove the code when it is used, in one atomic command.',
    async (service) => expectRefusal(await service.redeem(await service.redeemed())), ['token.unknown-code']),
  must('token.race', 'RFC 6749 §4.1.2',
    `Of ${RACERS} requests with the same code at the same time at most one gets a token.`,
    'Read and remove the code in one atomic command (Redis: GETDEL), not one after the other.',
    oneWinner(async (service) => {
      const grant = await service.code()
      return async () => (await service.redeem(grant)).reading.ok
    }), ['token.unknown-code', 'token.replayed-code']),
  must('token.code-lifetime', 'RFC 6749 §4.1.2', 'A code expires.',
    'Let codes expire shortly after they were issued, within ten minutes at most.',
    async (service) => {
      const { codeLifetime, wait } = service.settings
      if (codeLifetime === null) throw new Untested('it needs --code-lifetime')
      const grant = await service.code()
      await wait(codeLifetime * 1000 + 1000, service.signal)
      expectRefusal(await service.redeem(grant))
    }, ['token.unknown-code']),
  must('token.access-token-as-code', 'RFC 6749 §1.3.1, §1.4', 'An access token is no code.',
    'Keep codes and tokens apart.',
    async (service) => expectRefusal(await service.redeem({ code: await service.accessToken() })),
    ['token.unknown-code']),
  must('token.no-store', 'RFC 6749 §5.1', 'The response with the token must not be cached.',
    'Send Cache-Control: no-store with every response of the endpoint.',
    async (service) => {
      const { exchange } = await service.token(await service.code())
      expectNoStore(exchange)
    }),
  should('token.error', 'RFC 6749 §5.2', 'The response to an unknown code is 400, JSON and the error invalid_grant.',
    'Send 400 and {"error":"invalid_grant"} as application/json.',
    async (service) => {
      const { exchange } = await service.redeem(UNKNOWN)
      expect(statusOf(exchange) === 400 && oauthError(exchange.response) === 'invalid_grant', describe(exchange))
    }, ['token.unknown-code']),
  should('token.error-codes', 'RFC 6749 §5.2', 'The response to an incomplete request is a JSON error of the RFC.',
    'Send 400 and {"error":"invalid_request"} as application/json.',
    async (service) => {
      const { exchange } = await service.redeem(UNKNOWN, { grant_type: undefined })
      expect(CODES.includes(String(oauthError(exchange.response))), describe(exchange))
    }, ['token.error']),
  should('token.client-challenge', 'RFC 6749 §5.2',
    'The response to a wrong secret is 401, WWW-Authenticate: Basic and the error invalid_client.',
    'Send 401 with WWW-Authenticate: Basic and {"error":"invalid_client"}.',
    async (service) => {
      const { exchange } = await service.redeem(UNKNOWN, {}, WRONG_SECRET)
      expectChallenge(exchange, 'Basic')
      expect(oauthError(exchange.response) === 'invalid_client', describe(exchange))
    }, ['token.wrong-secret', 'token.error']),
  should('token.basic', 'RFC 6749 §2.3.1', 'The credentials are accepted as HTTP Basic, too.',
    'Read Authorization: Basic, each part form-decoded.',
    inTime((service) => service.code(), async (service, grant) =>
      expectToken(await service.redeem(grant, {}, { clientAuthentication: 'basic' })))),
  should('token.wrong-caller-burns-nothing', 'RFC 6749 §10.5',
    'A request with a wrong secret is refused and leaves the code as it was.',
    'Check the credentials before the code is taken: else anyone who saw a code can spoil the sign-in.',
    inTime((service) => service.code(), async (service, grant) => {
      expectRefusal(await service.redeem(grant, {}, WRONG_SECRET))
      expectToken(await service.redeem(grant))
    }), ['token.wrong-secret']),
  should('token.pkce', 'RFC 7636 §4.6', 'A code with a challenge needs the right verifier.',
    'Keep the code_challenge with the code and compare S256 of the code_verifier with it.',
    async (service) => {
      for (const verifier of [randomText(), undefined]) {
        const { code } = await service.granted(randomText())
        expectRefusal(await service.redeem({ code, verifier }))
      }
    }),
  should('token.form-only', 'RFC 6749 §4.1.3', 'A JSON body is refused.',
    'Accept application/x-www-form-urlencoded only.',
    async (service) => {
      const { send } = service.portal
      expectRefusal(await service.redeem(await service.code(), {}, { send: (request) => send(asJson(request)) }))
    }),
  should('token.credentials-in-url', 'RFC 6749 §2.3.1', 'Credentials in the URL are refused.',
    'Read credentials from the body or the Authorization header only: URLs end up in logs.',
    async (service) => {
      const { clientId, clientSecret, tokenUrl } = service.portal
      const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret })
      const changes = { client_id: undefined, client_secret: undefined }
      const caller = { tokenUrl: `${tokenUrl}?${query}`, clientAuthentication: 'form' as const }
      expectRefusal(await service.redeem(await service.code(), changes, caller))
    }),
  should('token.repeated', 'RFC 6749 §3.2', 'A repeated parameter is an error.',
    'Refuse a request with a repeated parameter.',
    async (service) => {
      const grant = await service.code()
      expectRefusal(await service.redeem(grant, { code: [grant.code, grant.code] }))
    })
]

/** Needs the user endpoint as well. */
export const REPLAY_RULE = should('token.replay-revokes', 'RFC 6749 §4.1.2',
  'When a code is used twice, the token that it gave is revoked.',
  'On a replay revoke the token that the code gave: one of the two callers is a thief.',
  async (service) => {
    const grant = await service.code()
    const { token } = await service.token(grant)
    await service.redeem(grant)
    expect(!(await service.user(token)).reading.ok, 'the record, for the token of the replayed code')
  }, ['token.unknown-code', 'token.replayed-code', 'user.unknown-token', 'user.record'])

function expectToken ({ exchange, reading }: Leg<string>): void {
  expect(reading.ok, describe(exchange))
}

const asJson: Edit = (request) => {
  const headers = request.headers.filter(([name]) => name !== 'Content-Type')
  const body = JSON.stringify(Object.fromEntries(new URLSearchParams(request.body)))
  return { ...request, headers: [...headers, ['Content-Type', 'application/json']], body }
}
