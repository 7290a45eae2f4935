import { readUser } from '../../../testing/answers.ts'
import { unlistedFields } from '../../../user-information.ts'
import { type Exchange, header, jsonObject, type WireRequest, type WireResponse } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { fail, everyOf, pass, type Rule, type Verdict, when } from './rule.ts'

const RACERS = 20

/** `GET /oauth/user`. */
export const USER_RULES: Rule[] = [
  {
    id: 'user.record',
    section: 'spec §2.3, §4.3',
    severity: 'must',
    sentence: 'A good token is answered with 200, application/json and a record that keeps the rules of the level.',
    fix: 'Return the listed fields with the allowed values.',
    test: async (bench) => {
      const answer = readUser(await bench.user(await bench.accessToken()), bench.portal)
      return answer.ok ? pass : fail(bench.got(answer), answer.error === 'malformed_record' ? undefined : answer.fix)
    }
  },
  {
    id: 'user.replayed-token',
    section: 'spec §2.2, §3.1',
    severity: 'must',
    sentence: 'A used token is refused.',
    fix: 'Remove the token when it is used.',
    test: async (bench) => {
      const token = await bench.accessToken()
      await bench.user(token)
      return refused(bench, await bench.user(token))
    }
  },
  {
    id: 'user.race',
    section: 'spec §2.2',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same token at the same time one gets the record.`,
    fix: 'Read and remove the token in one atomic command (Redis: GETDEL), not one after the other.',
    test: async (bench) => {
      await bench.works()
      const token = await bench.accessToken()
      const admitted = await Promise.all(Array.from({ length: RACERS }, () => bench.admits(token)))
      const winners = admitted.filter((one) => one).length
      return when(winners === 1, `${winners} records`)
    }
  },
  {
    id: 'user.no-token',
    section: 'spec §5.3',
    severity: 'must',
    sentence: 'A request without token is refused.',
    fix: 'Answer 401 with WWW-Authenticate: Bearer.',
    test: async (bench) => refused(bench, await bench.user('', without('Authorization')))
  },
  {
    id: 'user.unknown-token',
    section: 'spec §4.3, §7',
    severity: 'must',
    sentence: 'An unknown token is refused.',
    fix: 'Look the token up among those issued.',
    test: (bench) => everyOf(['an-unknown-token', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'], async (token) => refused(bench, await bench.user(token)))
  },
  {
    id: 'user.code-as-token',
    section: 'spec §3.2',
    severity: 'must',
    sentence: 'A code is no access token.',
    fix: 'Keep codes and tokens apart.',
    test: async (bench) => refused(bench, await bench.user((await bench.code()).code))
  },
  {
    id: 'user.session-is-no-token',
    section: 'spec §5.3',
    severity: 'must',
    sentence: 'The user’s session does not replace the token.',
    fix: 'Let the endpoint look at the Authorization header only.',
    test: async (bench) => refused(bench, await bench.browser.request(bench.portal.userUrl, 'GET'))
  },
  {
    id: 'user.challenge',
    section: 'RFC 6750 §3',
    severity: 'should',
    sentence: 'A refused token is answered with 401 and WWW-Authenticate: Bearer.',
    fix: 'Send 401 with WWW-Authenticate: Bearer error="invalid_token".',
    test: async (bench) => {
      const exchange = await bench.user('an-unknown-token')
      const challenge = header(exchange.response, 'www-authenticate')
      return when(exchange.response?.status === 401 && /^bearer/i.test(challenge), `${bench.told(exchange)}${challenge === '' ? ', no WWW-Authenticate' : ''}`)
    }
  },
  {
    id: 'user.header-only',
    section: 'spec §4.3, RFC 9700 §4.3.2',
    severity: 'should',
    sentence: 'A token in the URL is refused.',
    fix: 'Read the Authorization header only: URLs end up in logs.',
    test: async (bench) => refused(bench, await bench.user(await bench.accessToken(), inUrl))
  },
  {
    id: 'user.scheme-case',
    section: 'RFC 9110 §11.1',
    severity: 'should',
    sentence: 'The scheme Bearer is read in any case.',
    fix: 'Compare the scheme without regard to case.',
    test: async (bench) => {
      await bench.works()
      const exchange = await bench.user(await bench.accessToken(), lowerScheme)
      return when(exchange.response?.status === 200, bench.told(exchange))
    }
  },
  {
    id: 'user.head',
    section: 'RFC 9110 §9.2.1',
    severity: 'should',
    sentence: 'HEAD does not use the token up.',
    fix: 'Register the route without a HEAD twin (Fastify: exposeHeadRoute: false).',
    test: async (bench) => {
      await bench.works()
      const token = await bench.accessToken()
      const { response } = await bench.user(token, (request) => ({ ...request, method: 'HEAD' }))
      return when(await bench.admits(token), `HEAD: ${(response as WireResponse).status}, and the token was gone`)
    }
  },
  {
    id: 'user.no-store',
    section: 'RFC 9111 §5.2.2.5',
    severity: 'should',
    sentence: 'The record is not to be cached.',
    fix: 'Send Cache-Control: no-store with every answer of the endpoint.',
    test: async (bench) => {
      const value = header((await bench.user(await bench.accessToken())).response, 'cache-control')
      return when(/no-store/i.test(value), value === '' ? 'no Cache-Control' : `Cache-Control: ${value}`)
    }
  },
  {
    id: 'user.listed-fields',
    section: 'spec §2.3',
    severity: 'should',
    sentence: 'The record has the listed fields and no others.',
    fix: 'Send what the portal needs and nothing else of the user.',
    test: async (bench) => {
      await bench.works()
      const { response } = await bench.user(await bench.accessToken())
      const more = unlistedFields(jsonObject(response as WireResponse) as Record<string, unknown>)
      return when(more.length === 0, `also ${more.join(', ')}`)
    }
  }
]

function refused (bench: Bench, exchange: Exchange): Verdict {
  const { status, body } = exchange.response as WireResponse
  return when(status >= 300 && !body.includes('"external_id"'), bench.told(exchange))
}

function without (header: string): (request: WireRequest) => WireRequest {
  return (request) => ({ ...request, headers: request.headers.filter(([name]) => name !== header) })
}

function inUrl (request: WireRequest): WireRequest {
  const token = request.headers.find(([name]) => name === 'Authorization')?.[1].replace('Bearer ', '') as string
  return { ...without('Authorization')(request), url: `${request.url}?${new URLSearchParams({ access_token: token }).toString()}` }
}

function lowerScheme (request: WireRequest): WireRequest {
  return { ...request, headers: request.headers.map(([name, value]) => [name, value.replace('Bearer', 'bearer')]) }
}
