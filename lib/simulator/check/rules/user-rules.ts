import { type Edit } from '../../../testing/flow.ts'
import { unlistedFields } from '../../../user-information.ts'
import { type Exchange, header, jsonObject, statusOf } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { everyOf, fail, inTime, pass, type Rule, type Verdict, when } from './rule.ts'
import { raced } from './token-rules.ts'
import { Untested } from './untested.ts'

const RACERS = 20
const RACES = 3
/** Unsigned: `{"alg":"none"}`, `{"sub":"1"}`. */
const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'

/** `GET /oauth/user`. */
export const USER_RULES: Rule[] = [
  {
    id: 'user.no-token',
    section: 'RFC 6750 §3.1',
    severity: 'must',
    sentence: 'A request without token is refused.',
    fix: 'Answer 401 with WWW-Authenticate: Bearer.',
    test: async (bench) => refused(bench, await bench.user('', without('Authorization')))
  },
  {
    id: 'user.unknown-token',
    section: 'RFC 6750 §3.1',
    severity: 'must',
    sentence: 'An unknown token is refused.',
    fix: 'Look the token up among those issued.',
    test: (bench) => everyOf(['an-unknown-token', JWT], async (token) => refused(bench, await bench.user(token)))
  },
  {
    id: 'user.replayed-token',
    section: 'single use',
    severity: 'must',
    sentence: 'A used token is refused.',
    fix: 'Remove the token when it is used.',
    after: ['user.unknown-token'],
    test: async (bench) => {
      const token = await bench.accessToken()
      await bench.user(token)
      return refused(bench, await bench.user(token))
    }
  },
  {
    id: 'user.race',
    section: 'single use',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same token at the same time at most one gets the record.`,
    fix: 'Read and remove the token in one atomic command (Redis: GETDEL), not one after the other.',
    after: ['user.unknown-token', 'user.replayed-token'],
    test: (bench) => raced(RACES, async () => {
      const token = await bench.accessToken()
      const admitted = await Promise.all(Array.from({ length: RACERS }, () => bench.admits(token)))
      return admitted.filter((one) => one).length
    })
  },
  {
    id: 'user.code-as-token',
    section: 'RFC 6749 §1.3.1, §1.4',
    severity: 'must',
    sentence: 'A code is no access token.',
    fix: 'Keep codes and tokens apart.',
    after: ['user.unknown-token'],
    test: async (bench) => refused(bench, await bench.user((await bench.code()).code))
  },
  {
    id: 'user.session-is-no-token',
    section: 'RFC 6750 §2.1',
    severity: 'must',
    sentence: 'The user’s session does not replace the token.',
    fix: 'Let the endpoint look at the Authorization header only.',
    after: ['user.no-token'],
    test: async (bench) => {
      const exchange = await bench.browser.request(bench.portal.userUrl, 'GET')
      return refused(bench, exchange)
    }
  },
  {
    id: 'user.challenge',
    section: 'RFC 6750 §3',
    severity: 'should',
    sentence: 'A refused token is answered with 401 and WWW-Authenticate: Bearer.',
    fix: 'Send 401 with WWW-Authenticate: Bearer error="invalid_token".',
    after: ['user.unknown-token'],
    test: async (bench) => {
      const exchange = await bench.user('an-unknown-token')
      const challenge = header(exchange.response, 'www-authenticate')
      const good = statusOf(exchange) === 401 && /^bearer/i.test(challenge)
      return when(good, `${bench.told(exchange)}${challenge === '' ? ', no WWW-Authenticate' : ''}`)
    }
  },
  {
    id: 'user.header-only',
    section: 'RFC 9700 §4.3.2',
    severity: 'should',
    sentence: 'A token in the URL is refused.',
    fix: 'Read the Authorization header only: URLs end up in logs.',
    after: ['user.no-token'],
    test: async (bench) => {
      const token = await bench.accessToken()
      return refused(bench, await bench.user(token, inUrl(token)))
    }
  },
  {
    id: 'user.scheme-case',
    section: 'RFC 9110 §11.1',
    severity: 'should',
    sentence: 'The scheme Bearer is read in any case.',
    fix: 'Compare the scheme without regard to case.',
    test: (bench) => inTime(async () => {
      const exchange = await bench.user(await bench.accessToken(), lowerScheme)
      return when(statusOf(exchange) === 200, bench.told(exchange))
    })
  },
  {
    id: 'user.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD does not use the token up.',
    fix: 'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false).',
    test: (bench) => inTime(async () => {
      const token = await bench.accessToken()
      const exchange = await bench.user(token, (request) => ({ ...request, method: 'HEAD' }))
      return when(await bench.admits(token), `HEAD: ${statusOf(exchange)}, and the token was gone`)
    })
  },
  {
    id: 'user.no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'The record must not be cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoint.',
    test: async (bench) => {
      const { response } = await answered(bench)
      const value = header(response, 'cache-control')
      return when(/no-store/i.test(value), value === '' ? 'no Cache-Control' : `Cache-Control: ${value}`)
    }
  },
  {
    id: 'user.listed-fields',
    section: 'user information record',
    severity: 'should',
    sentence: 'The record has the listed fields and no others.',
    fix: 'Send what the portal needs and nothing else of the user.',
    test: async (bench) => {
      const { response } = await answered(bench)
      const more = unlistedFields(jsonObject(response) ?? {})
      return when(more.length === 0, `also ${more.join(', ')}`)
    }
  }
]

/** The exchange that gave the record. @throws Untested when it did not */
async function answered (bench: Bench): Promise<Exchange> {
  const exchange = await bench.user(await bench.accessToken())
  if (statusOf(exchange) !== 200) throw new Untested(`there is no record: ${bench.told(exchange)}`)
  return exchange
}

/** No record was given. An error with a status of success is no record either, but no good answer. */
function refused (bench: Bench, exchange: Exchange): Verdict {
  if (jsonObject(exchange.response)?.external_id !== undefined) return fail(bench.told(exchange))
  return statusOf(exchange) >= 300 ? pass : fail(bench.told(exchange), 'Answer an error with 401.', 'should')
}

function without (header: string): Edit {
  return (request) => ({ ...request, headers: request.headers.filter(([name]) => name !== header) })
}

function inUrl (token: string): Edit {
  const query = new URLSearchParams({ access_token: token }).toString()
  return (request) => ({ ...without('Authorization')(request), url: `${request.url}?${query}` })
}

const lowerScheme: Edit = (request) => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, value.replace('Bearer', 'bearer')])
})
