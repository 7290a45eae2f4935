import { describe } from '../../flow/failure.ts'
import type { Edit } from '../../flow/legs.ts'
import { readUser } from '../../flow/responses.ts'
import type { Exchange } from '../../flow/wire.ts'
import { jsonObject, statusOf } from '../../flow/wire.ts'
import { unlistedFields } from '../../user-information.ts'
import { Untested } from './errors.ts'
import { expectChallenge, expectNoStore } from './headers.ts'
import { shouldSucceed, withToken } from './in-time.ts'
import { oneWinner, RACERS } from './races.ts'
import { expectRefusal } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

/** Unsigned: `{"alg":"none"}`, `{"sub":"1"}`. */
const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'

/** `GET /oauth/user`. */
export const USER_RULES: readonly Rule[] = [
  {
    id: 'user.no-token',
    section: 'RFC 6750 §3.1',
    severity: 'must',
    sentence: 'A request without token is refused.',
    fix: 'Respond with 401 and WWW-Authenticate: Bearer.',
    test: (service) => expectNoRecord(service, '', withoutToken)
  },
  {
    id: 'user.unknown-token',
    section: 'RFC 6750 §3.1',
    severity: 'must',
    sentence: 'An unknown token is refused.',
    fix: 'Look the token up among those issued.',
    async test (service) {
      for (const token of ['an-unknown-token', JWT]) await expectNoRecord(service, token)
    }
  },
  {
    id: 'user.replayed-token',
    section: 'single use',
    severity: 'must',
    sentence: 'A used token is refused.',
    fix: 'Remove the token when it is used, in one atomic command.',
    after: ['user.unknown-token'],
    async test (service) {
      const token = await service.accessToken()
      await service.user(token)
      await expectNoRecord(service, token)
    }
  },
  {
    id: 'user.race',
    section: 'single use',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same token at the same time at most one gets the record.`,
    fix:
      'Read and remove the token in one atomic command (Redis: GETDEL), not one after the ' +
      'other.',
    after: ['user.unknown-token', 'user.replayed-token'],
    test: oneWinner(async (service) => {
      const token = await service.accessToken()
      return async () => (await service.user(token)).reading.ok
    })
  },
  {
    id: 'user.code-as-token',
    section: 'RFC 6749 §1.3.1, §1.4',
    severity: 'must',
    sentence: 'A code is no access token.',
    fix: 'Keep codes and tokens apart.',
    after: ['user.unknown-token'],
    test: async (service) => {
      const grant = await service.code()
      await expectNoRecord(service, grant.code)
      // Refused, it stays good at the token endpoint; where it does not, there is no used code.
      if ((await service.redeem(grant)).reading.ok) await expectNoRecord(service, grant.code)
    }
  },
  {
    id: 'user.session-is-no-token',
    section: 'RFC 6750 §2.1',
    severity: 'must',
    sentence: 'The user’s session does not replace the token.',
    fix: 'Let the endpoint look at the Authorization header only.',
    after: ['user.no-token'],
    async test (service) {
      const exchange = await service.browser.request(service.integration.userUrl, 'GET')
      expectRefusal({ exchange, reading: readUser(exchange, service.integration) }, service.record?.email)
    }
  },
  {
    id: 'user.challenge',
    section: 'RFC 6750 §3',
    severity: 'should',
    sentence: 'The response to a refused token is 401 and WWW-Authenticate: Bearer.',
    fix: 'Send 401 with WWW-Authenticate: Bearer error="invalid_token".',
    after: ['user.unknown-token'],
    test: async (service) => expectChallenge((await service.user('an-unknown-token')).exchange, 'Bearer')
  },
  {
    id: 'user.header-only',
    section: 'RFC 9700 §4.3.2',
    severity: 'should',
    sentence: 'A token in the URL is refused.',
    fix: 'Read the Authorization header only: URLs end up in logs.',
    after: ['user.no-token'],
    async test (service) {
      const token = await service.accessToken()
      await expectNoRecord(service, token, inUrl(token))
    }
  },
  {
    id: 'user.scheme-case',
    section: 'RFC 9110 §11.1',
    severity: 'should',
    sentence: 'The scheme Bearer is read in any case.',
    fix: 'Compare the scheme without regard to case.',
    test: withToken(async (service, token) => shouldSucceed(await service.user(token, lowerScheme)))
  },
  {
    id: 'user.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD does not use the token up.',
    fix: 'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false).',
    test: withToken(async (service, token) => {
      const { exchange } = await service.user(token, (request) => ({ ...request, method: 'HEAD' }))
      return shouldSucceed(await service.user(token), `HEAD: ${statusOf(exchange)}, and the token was gone`)
    })
  },
  {
    id: 'user.no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'The record must not be cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoint.',
    test: async (service) => expectNoStore(await withRecord(service))
  },
  {
    id: 'user.listed-fields',
    section: 'user information record',
    severity: 'should',
    sentence: 'The record has the listed fields and no others.',
    fix: 'Send what the portal needs and nothing else of the user.',
    async test (service) {
      const more = unlistedFields(jsonObject((await withRecord(service)).response) ?? {})
      expect(more.length === 0, `also ${more.join(', ')}`)
    }
  }
]

/** A token that gives neither the record nor, wherever in the response, the e-mail address of the user. */
async function expectNoRecord (service: Service, token: string, edit?: Edit): Promise<void> {
  expectRefusal(await service.user(token, edit), service.record?.email)
}

/** The exchange that gave the record. @throws Untested when it did not */
async function withRecord (service: Service): Promise<Exchange> {
  const { exchange } = await service.user(await service.accessToken())
  if (statusOf(exchange) !== 200) throw new Untested(`there is no record: ${describe(exchange)}`)
  return exchange
}

const withoutToken: Edit = (request) =>
  ({ ...request, headers: request.headers.filter(([name]) => name !== 'Authorization') })

function inUrl (token: string): Edit {
  const query = new URLSearchParams({ access_token: token }).toString()
  return (request) => ({ ...withoutToken(request), url: `${request.url}?${query}` })
}

const lowerScheme: Edit = (request) => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, value.replace('Bearer', 'bearer')])
})
