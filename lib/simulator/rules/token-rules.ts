import { describe, oauthError } from '../../flow/failure.ts'
import { jsonObject, statusOf } from '../../flow/wire.ts'
import { FORM, withHeader } from './edits.ts'
import { expectChallenge, expectNoStore } from './headers.ts'
import { shouldSucceed, withCode } from './in-time.ts'
import { RACERS } from './races.ts'
import { expectRefusal, refusesEach } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import { CODES } from './single-use.ts'
import { WRONG_SECRET } from './token-refusal-rules.ts'
import { IGNORE, UNKNOWN_PARAMETER } from './authorize-request-rules.ts'

const CODES_OF_ERRORS = [
  'invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client',
  'unsupported_grant_type', 'invalid_scope'
]
const UNKNOWN = { code: 'an-unknown-code' }
/** What is sent beside an unknown code, and the errors that name its mistake. */
const ERRORS = [
  { how: 'without grant_type', sent: { changes: { grant_type: undefined } }, errors: CODES_OF_ERRORS },
  {
    how: 'with another grant_type',
    sent: { changes: { grant_type: 'password' } },
    errors: ['unsupported_grant_type', 'unauthorized_client']
  },
  {
    how: 'with an unknown client_id',
    sent: { caller: { clientId: 'nobody' } },
    errors: ['invalid_client']
  }
]

/** `POST /oauth/token`. */
export const TOKEN_RULES: readonly Rule[] = [
  {
    id: 'token.replayed-code',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A used code is refused.',
    fix: 'Remove the code when it is used, in one atomic command.',
    after: ['token.unknown-code'],
    test: CODES.replayed
  },
  {
    id: 'token.race',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same code at the same time at most one gets a token.`,
    fix: 'Read and remove the code in one atomic command (Redis: GETDEL), not one after the other.',
    after: ['token.unknown-code', 'token.replayed-code'],
    test: CODES.race
  },
  {
    id: 'token.code-lifetime',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A code expires.',
    fix: 'Let codes expire shortly after they were issued, within ten minutes at most.',
    after: ['token.unknown-code'],
    test: CODES.expired
  },
  {
    id: 'token.access-token-as-code',
    section: 'RFC 6749 §1.3.1, §1.4',
    severity: 'must',
    sentence: 'An access token is not accepted as a code.',
    fix: 'Keep codes and tokens apart.',
    after: ['token.unknown-code'],
    test: async (service) =>
      expectRefusal(await service.redeem({ code: await service.accessToken() }))
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
      expect(statusOf(exchange) === 400 &&
        oauthError(exchange.response) === 'invalid_grant', describe(exchange))
    }
  },
  {
    id: 'token.error-codes',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'The response to a wrong request is a JSON error of the RFC, the one for the mistake.',
    fix: 'Send the errors of the RFC as application/json: invalid_request for an incomplete request, ' +
      'unsupported_grant_type, invalid_client for an unknown client_id.',
    after: ['token.error', 'token.grant-type', 'token.unknown-client'],
    test: (service) => refusesEach(ERRORS, async ({ sent, errors }) => {
      const { exchange } = await service.redeem(UNKNOWN, sent)
      expect(errors.includes(String(oauthError(exchange.response))), describe(exchange))
    })
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
      const { exchange } = await service.redeem(UNKNOWN, WRONG_SECRET)
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
      shouldSucceed(await service.redeem(grant, { caller: { clientAuthentication: 'basic' } })))
  },
  {
    id: 'token.charset',
    section: 'RFC 9110 §8.3.1',
    severity: 'should',
    sentence: 'The content type of the form may have a charset.',
    fix: 'Compare the media type only, without its parameters.',
    test: withCode(async (service, grant) => shouldSucceed(
      await service.redeem(grant, { edit: withHeader('Content-Type', `${FORM}; charset=UTF-8`) })))
  },
  {
    id: 'token.expires-in',
    section: 'RFC 6749 §5.1',
    severity: 'should',
    sentence: 'expires_in, where there is one, is a number of seconds.',
    fix: 'Send expires_in as a JSON number.',
    async test (service) {
      const { exchange } = await service.token(await service.code())
      const { expires_in: seconds = 1 } = jsonObject(exchange.response) as Record<string, unknown>
      expect(typeof seconds === 'number' && seconds > 0, `expires_in: ${JSON.stringify(seconds)}`)
    }
  },
  {
    id: 'token.earlier-code',
    section: 'RFC 6749 §4.1.2',
    severity: 'should',
    sentence: 'A code is still valid when the same user gets another one.',
    fix: 'Keep codes by themselves and not one for each user: a second tab spoils the sign-in.',
    test: withCode(async (service, grant) => {
      await service.code()
      return shouldSucceed(await service.redeem(grant))
    })
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
      expectRefusal(await service.redeem(grant, WRONG_SECRET))
      return shouldSucceed(await service.redeem(grant))
    })
  },
  {
    id: 'token.unknown-parameter',
    section: 'RFC 6749 §3.2',
    severity: 'must',
    sentence: 'Unknown parameters are ignored.',
    fix: IGNORE,
    test: withCode(async (service, grant) => {
      const leg = await service.redeem(grant, { changes: UNKNOWN_PARAMETER })
      return shouldSucceed(leg, `with an_unknown_parameter=x: ${describe(leg.exchange)}`)
    })
  },
  {
    id: 'token.respelt-code',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A used code is refused in every spelling.',
    fix:
      'Record the use of the decoded code, not of its text: several texts may decode to one.',
    after: ['token.unknown-code', 'token.replayed-code'],
    test: CODES.respelt
  }
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
    expect(
      !(await service.user(token)).reading.ok, 'the record, for the token of the replayed code'
    )
  }
}
