import { describe } from '../../flow/failure.ts'
import type { Edit } from '../../flow/legs.ts'
import { readUser } from '../../flow/responses.ts'
import type { Exchange } from '../../flow/wire.ts'
import { jsonObject, statusOf } from '../../flow/wire.ts'
import { unlistedFields } from '../../user-information.ts'
import { Untested } from './errors.ts'
import { expectChallenge, expectNoStore } from './headers.ts'
import { oneWinner, RACERS } from './races.ts'
import { expectRefusal } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect, inTime, must, should } from './rule.ts'
import type { Service } from './service.ts'

/** Unsigned: `{"alg":"none"}`, `{"sub":"1"}`. */
const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'

/** `GET /oauth/user`. */
export const USER_RULES: readonly Rule[] = [
  must('user.no-token', 'RFC 6750 §3.1', 'A request without token is refused.',
    'Respond with 401 and WWW-Authenticate: Bearer.',
    (service) => expectNoRecord(service, '', withoutToken)),
  must('user.unknown-token', 'RFC 6750 §3.1', 'An unknown token is refused.',
    'Look the token up among those issued.',
    async (service) => {
      for (const token of ['an-unknown-token', JWT]) await expectNoRecord(service, token)
    }),
  must('user.replayed-token', 'single use', 'A used token is refused.',
    'Remove the token when it is used, in one atomic command.',
    async (service) => {
      const token = await service.accessToken()
      await service.user(token)
      await expectNoRecord(service, token)
    }, ['user.unknown-token']),
  must('user.race', 'single use',
    `Of ${RACERS} requests with the same token at the same time at most one gets the record.`,
    'Read and remove the token in one atomic command (Redis: GETDEL), not one after the other.',
    oneWinner(async (service) => {
      const token = await service.accessToken()
      return async () => (await service.user(token)).reading.ok
    }), ['user.unknown-token', 'user.replayed-token']),
  must('user.code-as-token', 'RFC 6749 §1.3.1, §1.4', 'A code is no access token.',
    'Keep codes and tokens apart.',
    async (service) => expectNoRecord(service, (await service.code()).code), ['user.unknown-token']),
  must('user.session-is-no-token', 'RFC 6750 §2.1', 'The user’s session does not replace the token.',
    'Let the endpoint look at the Authorization header only.',
    async (service) => {
      const exchange = await service.browser.request(service.portal.userUrl, 'GET')
      expectRefusal({ exchange, reading: readUser(exchange, service.portal) }, service.record?.email)
    }, ['user.no-token']),
  should('user.challenge', 'RFC 6750 §3', 'The response to a refused token is 401 and WWW-Authenticate: Bearer.',
    'Send 401 with WWW-Authenticate: Bearer error="invalid_token".',
    async (service) => expectChallenge((await service.user('an-unknown-token')).exchange, 'Bearer'),
    ['user.unknown-token']),
  should('user.header-only', 'RFC 9700 §4.3.2', 'A token in the URL is refused.',
    'Read the Authorization header only: URLs end up in logs.',
    async (service) => {
      const token = await service.accessToken()
      await expectNoRecord(service, token, inUrl(token))
    }, ['user.no-token']),
  should('user.scheme-case', 'RFC 9110 §11.1', 'The scheme Bearer is read in any case.',
    'Compare the scheme without regard to case.',
    inTime((service) => service.accessToken(), async (service, token) => {
      const { exchange } = await service.user(token, lowerScheme)
      expect(statusOf(exchange) === 200, describe(exchange))
    })),
  should('user.head', 'RFC 9110 §9.2.1', 'HEAD does not use the token up.',
    'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false).',
    inTime((service) => service.accessToken(), async (service, token) => {
      const { exchange } = await service.user(token, (request) => ({ ...request, method: 'HEAD' }))
      const { reading } = await service.user(token)
      expect(reading.ok, `HEAD: ${statusOf(exchange)}, and the token was gone`)
    })),
  should('user.no-store', 'RFC 9111 §5.2.2.5', 'The record must not be cached.',
    'Send Cache-Control: no-store with every response of the endpoint.',
    async (service) => expectNoStore(await withRecord(service))),
  should('user.listed-fields', 'user information record', 'The record has the listed fields and no others.',
    'Send what the portal needs and nothing else of the user.',
    async (service) => {
      const more = unlistedFields(jsonObject((await withRecord(service)).response) ?? {})
      expect(more.length === 0, `also ${more.join(', ')}`)
    })
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
