import { isDeepStrictEqual } from 'node:util'
import { describe } from '../../flow/failure.ts'
import type { Edit } from '../../flow/legs.ts'
import { readUser } from '../../flow/responses.ts'
import type { Exchange } from '../../flow/wire.ts'
import { header, jsonObject, statusOf } from '../../flow/wire.ts'
import { unlistedFields } from '../../user-information.ts'
import { by, FORM, inTurn, withBody, withHeader, withQuery } from './edits.ts'
import { Failed, Untested } from './errors.ts'
import { expectChallenge, expectNoStore } from './headers.ts'
import { shouldSucceed, withToken } from './in-time.ts'
import { RACERS } from './races.ts'
import type { Try } from './refusals.ts'
import { expectRefusal, refusesToken } from './refusals.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { TOKENS } from './single-use.ts'

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
    test: (service) => expectNoRecord(service, '', withHeader('Authorization'))
  },
  {
    id: 'user.unknown-token',
    section: 'RFC 6750 §3.1',
    severity: 'must',
    sentence: 'An unknown token is refused.',
    fix: 'Look the token up among those issued.',
    test: async (service) => {
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
    test: TOKENS.replayed
  },
  {
    id: 'user.race',
    section: 'single use',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same token at the same time at most one gets the ` +
      'record.',
    fix:
      'Read and remove the token in one atomic command (Redis: GETDEL), not one after the ' +
      'other.',
    after: ['user.unknown-token', 'user.replayed-token'],
    test: TOKENS.race
  },
  {
    id: 'user.code-as-token',
    section: 'RFC 6749 §1.3.1, §1.4',
    severity: 'must',
    sentence: 'A code is not accepted as an access token.',
    fix: 'Keep codes and tokens apart.',
    after: ['user.unknown-token'],
    test: async (service) => {
      const grant = await service.code()
      await expectNoRecord(service, grant.code)
      // A refused code stays good at the token endpoint. Where it does not, no used code exists.
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
      expectRefusal(
        { exchange, reading: readUser(exchange, service.integration) }, service.record?.email
      )
    }
  },
  {
    id: 'user.challenge',
    section: 'RFC 6750 §3',
    severity: 'should',
    sentence:
      'The response to a refused token is 401 and WWW-Authenticate: Bearer error="invalid_token".',
    fix: 'Send 401 with WWW-Authenticate: Bearer error="invalid_token".',
    after: ['user.unknown-token'],
    test: async (service) => {
      const { exchange } = await service.user('an-unknown-token')
      expectChallenge(exchange, 'Bearer')
      const challenge = header(exchange.response, 'www-authenticate')
      expect(/\berror\s*=\s*"?invalid_token\b/.test(challenge), `WWW-Authenticate: ${challenge}`)
    }
  },
  {
    id: 'user.header-only',
    section: 'RFC 9700 §4.3.2',
    severity: 'should',
    sentence: 'A token in the URL is refused.',
    fix: 'Read the Authorization header only: URLs end up in logs.',
    after: ['user.no-token'],
    test: refusesToken((token) => [{ edit: elsewhere(withQuery({ access_token: token })) }])
  },
  {
    id: 'user.scheme-case',
    section: 'RFC 9110 §11.1',
    severity: 'should',
    sentence: 'The scheme Bearer is read in any case.',
    fix: 'Compare the scheme without regard to case.',
    test: withToken(async (service, token) => {
      const lower = withHeader('Authorization', `bearer ${token}`)
      return shouldSucceed(await service.user(token, lower))
    })
  },
  {
    id: 'user.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD does not use the token up.',
    fix: 'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false).',
    test: withToken(async (service, token) => {
      const { exchange } = await service.user(token, by('HEAD'))
      return shouldSucceed(
        await service.user(token), `HEAD: ${statusOf(exchange)}, and the token was gone`
      )
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
  },
  {
    id: 'user.plain-text',
    section: 'RFC 8259 §8.1',
    severity: 'should',
    sentence: 'The texts of the record are UTF-8 and plain text.',
    fix: 'Send UTF-8, and the texts as they are: the portal escapes them where it shows them.',
    async test (service) {
      const { response } = await withRecord(service)
      const [found] = /\ufffd|&(?:amp|lt|gt|quot|#\d+|#x[\da-f]+);/i.exec(String(response?.body)) ?? []
      expect(found === undefined, found === '\ufffd' ? 'bytes that are not UTF-8' : `the text ${found}`)
    }
  },
  {
    id: 'user.same-user',
    section: 'user information record',
    severity: 'must',
    sentence: 'A user has the same external_id at each sign-in.',
    fix: 'Send the identifier that the application keeps for the user: for a different one the ' +
      'portal creates another user.',
    test: async (service) => {
      await withRecord(service)
      const first = service.record?.external_id
      await withRecord(service)
      expect(service.record?.external_id === first, 'another external_id at the next sign-in')
    }
  },
  {
    id: 'user.respelt-token',
    section: 'single use',
    severity: 'must',
    sentence: 'A used token is refused in every spelling.',
    fix:
      'Record the use of the decoded token, not of its text: several texts may decode to one.',
    after: ['user.unknown-token', 'user.replayed-token'],
    test: TOKENS.respelt
  },
  {
    id: 'user.token-lifetime',
    section: 'RFC 6750 §5.3',
    severity: 'must',
    sentence: 'A token expires.',
    fix: 'Let tokens expire within an hour at most.',
    after: ['user.unknown-token'],
    test: TOKENS.expired
  },
  {
    id: 'user.parameters',
    section: 'RFC 6750 §2.1',
    severity: 'must',
    sentence: 'The record is that of the token, whatever else the request says.',
    fix: 'Read the user from the token alone.',
    after: ['user.same-user'],
    test: withToken(async (service, token) => {
      const names = ['external_id', 'id', 'user', 'user_id', 'sub', 'email', 'uid']
      const query = Object.fromEntries(names.map((name) => [name, 'somebody-else']))
      const own = service.record
      const leg = await service.user(token, withQuery(query))
      const got = `with external_id=somebody-else: ${describe(leg.exchange)}`
      const failure = isDeepStrictEqual(own, service.record)
        ? null
        : new Failed(`${got}, and another record`)
      return leg.reading.ok ? { exchange: leg.exchange, failure } : shouldSucceed(leg, got)
    })
  },
  {
    id: 'user.other-places',
    section: 'RFC 6750 §2',
    severity: 'should',
    sentence: 'A token is read in the Authorization header with the scheme Bearer only.',
    fix:
      'Read Authorization: Bearer only: not cookies, not the body, not another header or scheme.',
    after: ['user.no-token'],
    test: refusesToken(places)
  }
]

/** Expects a refusal with neither the record nor the user's e-mail address in it. */
async function expectNoRecord (service: Service, token: string, edit?: Edit): Promise<void> {
  expectRefusal(await service.user(token, edit), service.record?.email)
}

/** The exchange that gave the record. @throws Untested when it did not */
async function withRecord (service: Service): Promise<Exchange> {
  const { exchange } = await service.user(await service.accessToken())
  if (statusOf(exchange) !== 200) throw new Untested(`there is no record: ${describe(exchange)}`)
  return exchange
}

/** In another place than the Authorization header. */
const elsewhere = (edit: Edit): Edit => inTurn(withHeader('Authorization'), edit)

/** Requests with the token in a wrong place, or with a wrong method. */
function places (token: string): Try[] {
  const form = withBody(FORM, new URLSearchParams({ access_token: token }).toString())
  const others: Record<string, Edit> = {
    'in the cookie access_token': withHeader('Cookie', `access_token=${token}; token=${token}`),
    'in the header X-Access-Token': withHeader('X-Access-Token', token),
    'without a scheme': withHeader('Authorization', token),
    'with the scheme JWT': withHeader('Authorization', `JWT ${token}`),
    'with the scheme Token': withHeader('Authorization', `Token ${token}`),
    'with the scheme Basic': withHeader('Authorization', `Basic ${token}`),
    'in a form': inTurn(by('POST'), form),
    'in the body of GET': form,
    'in the parameter token': withQuery({ token })
  }
  return [
    ...Object.entries(others).map(([how, edit]) =>
      ({ how: `a token ${how}`, edit: elsewhere(edit) })),
    ...['POST', 'PUT', 'DELETE'].map((method) =>
      ({ how: `a token in a request of ${method}`, edit: by(method) }))
  ]
}
