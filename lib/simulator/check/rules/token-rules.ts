import { setTimeout as wait } from 'node:timers/promises'
import { readToken } from '../../../testing/answers.ts'
import { oauthError } from '../../../testing/failure.ts'
import { basicCredentials, type Changes, randomText } from '../../../testing/requests.ts'
import { type Exchange, header, type WireRequest } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { fail, everyOf, pass, type Rule, type Verdict, when } from './rule.ts'
import { Untested } from './untested.ts'

const RACERS = 20
const CODES = ['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope']

/** `POST /oauth/token`. */
export const TOKEN_RULES: Rule[] = [
  {
    id: 'token.answer',
    section: 'spec §4.2',
    severity: 'must',
    sentence: 'A good request is answered with 200, application/json, token_type Bearer and access_token.',
    fix: 'Return exactly {"token_type":"Bearer","access_token":"…"}.',
    test: async (bench) => {
      const answer = readToken(await bench.redeem(await bench.code()))
      return answer.ok ? pass : fail(bench.got(answer), answer.fix)
    }
  },
  {
    id: 'token.no-session',
    section: 'spec §4.2',
    severity: 'must',
    sentence: 'No hook of the application stands in front of the endpoint: the portal calls it without cookies.',
    fix: 'Exempt /oauth/token from the application’s global hooks (login, CSRF, bot protection).',
    test: async (bench) => {
      const exchange = await bench.redeem({ code: 'an-unknown-code', verifier: undefined })
      const status = exchange.response?.status as number
      return when(!(status >= 300 && status < 400) && !([401, 403].includes(status) && oauthError(exchange.response) === null), bench.told(exchange))
    }
  },
  refusal('token.wrong-secret', 'spec §5.2', 'A wrong client_secret is refused.', 'Compare the secret, in constant time, before anything is issued.', { client_secret: 'not-the-secret' }),
  refusal('token.unknown-client', 'spec §5.2', 'An unknown client_id is refused.', 'Compare the client_id with the one given to the portal.', { client_id: 'nobody' }),
  refusal('token.missing-secret', 'spec §4.2', 'A request without client_secret is refused.', 'client_secret is required.', { client_secret: undefined }),
  refusal('token.foreign-redirect-uri', 'spec §4.2', 'Another redirect_uri than the registered one is refused.', 'Compare the redirect_uri with the registered one as whole strings.', { redirect_uri: 'https://foreign.example/callback' }),
  refusal('token.missing-redirect-uri', 'spec §4.2', 'A request without redirect_uri is refused.', 'redirect_uri is required.', { redirect_uri: undefined }),
  refusal('token.grant-type', 'spec §4.2', 'Another grant_type is refused.', 'Accept grant_type=authorization_code only.', { grant_type: 'password' }),
  refusal('token.missing-grant-type', 'spec §4.2', 'A request without grant_type is refused.', 'grant_type is required.', { grant_type: undefined }),
  refusal('token.unknown-code', 'spec §7', 'An unknown code is refused.', 'Look the code up among those issued.', { code: 'an-unknown-code' }),
  refusal('token.missing-code', 'spec §4.2', 'A request without code is refused.', 'code is required.', { code: undefined }),
  {
    id: 'token.replayed-code',
    section: 'spec §2.1, §3.1',
    severity: 'must',
    sentence: 'A used code is refused.',
    fix: 'Remove the code when it is used.',
    test: async (bench) => {
      const grant = await bench.code()
      await used(bench, grant)
      return refused(bench, await bench.redeem(grant))
    }
  },
  {
    id: 'token.race',
    section: 'spec §2.1',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same code at the same time one gets a token.`,
    fix: 'Read and remove the code in one atomic command (Redis: GETDEL), not one after the other.',
    test: async (bench) => {
      await bench.accessToken()
      const grant = await bench.code()
      const exchanges = await Promise.all(Array.from({ length: RACERS }, () => bench.redeem(grant)))
      const winners = exchanges.filter((exchange) => readToken(exchange).ok).length
      return when(winners === 1, `${winners} tokens`)
    }
  },
  {
    id: 'token.code-lifetime',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A code expires.',
    fix: 'Let codes die shortly after they were issued, ten minutes at most.',
    test: async (bench) => {
      const { codeLifetime } = bench.settings
      if (codeLifetime === null) throw new Untested('it takes waiting: --code-lifetime')
      const grant = await bench.code()
      await wait(codeLifetime * 1000 + 1000)
      return refused(bench, await bench.redeem(grant))
    }
  },
  {
    id: 'token.access-token-as-code',
    section: 'spec §3.2',
    severity: 'must',
    sentence: 'An access token is no code.',
    fix: 'Keep codes and tokens apart.',
    test: async (bench) => refused(bench, await bench.redeem({ code: await bench.accessToken(), verifier: undefined }))
  },
  {
    id: 'token.no-store',
    section: 'RFC 6749 §5.1',
    severity: 'must',
    sentence: 'The answer is not to be cached.',
    fix: 'Send Cache-Control: no-store with every answer of the endpoint.',
    test: async (bench) => {
      const value = header((await bench.redeem(await bench.code())).response, 'cache-control')
      return when(/no-store/i.test(value), value === '' ? 'no Cache-Control' : `Cache-Control: ${value}`)
    }
  },
  {
    id: 'token.basic',
    section: 'RFC 6749 §2.3.1',
    severity: 'should',
    sentence: 'The credentials are accepted as HTTP Basic, too.',
    fix: 'Read Authorization: Basic, each part form-decoded.',
    test: async (bench) => {
      await bench.accessToken()
      return gives(bench, await bench.redeem(await bench.code(), { client_id: undefined, client_secret: undefined }, withBasic(bench)))
    }
  },
  {
    id: 'token.client-challenge',
    section: 'RFC 6749 §5.2, RFC 9110 §15.5.2',
    severity: 'should',
    sentence: 'A wrong secret is answered with 401, WWW-Authenticate and the error invalid_client.',
    fix: 'Send 401 with WWW-Authenticate: Basic and {"error":"invalid_client"}.',
    test: async (bench) => {
      const exchange = await bench.redeem({ code: 'an-unknown-code', verifier: undefined }, credentials(bench, 'not-the-secret'), wrongBasic(bench))
      const challenged = header(exchange.response, 'www-authenticate') !== ''
      return when(exchange.response?.status === 401 && challenged && oauthError(exchange.response) === 'invalid_client', `${bench.told(exchange)}${challenged ? '' : ', no WWW-Authenticate'}`)
    }
  },
  {
    id: 'token.error',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'An unknown code is answered with 400, JSON and the error invalid_grant.',
    fix: 'Send 400 and {"error":"invalid_grant"} as application/json.',
    test: async (bench) => {
      const exchange = await bench.redeem({ code: 'an-unknown-code', verifier: undefined })
      return when(exchange.response?.status === 400 && oauthError(exchange.response) === 'invalid_grant', bench.told(exchange))
    }
  },
  {
    id: 'token.error-codes',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'An incomplete request is answered with a JSON error of the RFC.',
    fix: 'Send 400 and {"error":"invalid_request"} as application/json.',
    test: async (bench) => {
      const exchange = await bench.redeem({ code: 'an-unknown-code', verifier: undefined }, { grant_type: undefined })
      return when(CODES.includes(String(oauthError(exchange.response))), bench.told(exchange))
    }
  },
  {
    id: 'token.wrong-caller-burns-nothing',
    section: 'spec §3',
    severity: 'should',
    sentence: 'A request with a wrong secret leaves the code as it was.',
    fix: 'Check the credentials before the code is taken: else whoever saw a code can spoil the sign-in.',
    test: async (bench) => {
      await bench.accessToken()
      const grant = await bench.code()
      await bench.redeem(grant, credentials(bench, 'not-the-secret'), wrongBasic(bench))
      return gives(bench, await bench.redeem(grant))
    }
  },
  {
    id: 'token.replay-revokes',
    section: 'RFC 6749 §4.1.2',
    severity: 'should',
    sentence: 'When a code is used twice, the token that it gave dies.',
    fix: 'On a replay revoke the token that the code gave: one of the two callers is a thief.',
    test: async (bench) => {
      await bench.works()
      const grant = await bench.code()
      const token = await used(bench, grant)
      await bench.redeem(grant)
      return when(!await bench.admits(token), 'the record, for the token of the replayed code')
    }
  },
  {
    id: 'token.pkce',
    section: 'RFC 7636 §4.6',
    severity: 'should',
    sentence: 'A code with a challenge needs the right verifier.',
    fix: 'Keep the code_challenge with the code and compare S256 of the code_verifier with it.',
    test: (bench) => everyOf([randomText(), undefined], async (verifier) => {
      const { code } = await bench.code({ verifier: randomText() })
      return refused(bench, await bench.redeem({ code, verifier }))
    })
  },
  {
    id: 'token.form-only',
    section: 'spec §4.2, RFC 6749 §4.1.3',
    severity: 'should',
    sentence: 'A JSON body is refused.',
    fix: 'Accept application/x-www-form-urlencoded only.',
    test: async (bench) => refused(bench, await bench.redeem(await bench.code(), {}, asJson))
  },
  {
    id: 'token.credentials-in-url',
    section: 'RFC 6749 §2.3.1',
    severity: 'should',
    sentence: 'Credentials in the URL are refused.',
    fix: 'Read credentials from the body or the Authorization header only: URLs end up in logs.',
    test: async (bench) => refused(bench, await bench.redeem(await bench.code(), {}, inUrl(bench)))
  },
  {
    id: 'token.repeated',
    section: 'RFC 6749 §3.2',
    severity: 'should',
    sentence: 'A repeated parameter is an error.',
    fix: 'Refuse a request in which a parameter comes more than once.',
    test: async (bench) => {
      const grant = await bench.code()
      return refused(bench, await bench.redeem(grant, { code: [grant.code, grant.code] }))
    }
  }
]

/** A rule on one wrong or missing parameter beside a good code. */
function refusal (id: string, section: string, sentence: string, fix: string, changes: Changes): Rule {
  return {
    id,
    section,
    severity: 'must',
    sentence,
    fix,
    test: async (bench) => {
      const basic = bench.portal.clientAuthentication === 'basic' && ('client_secret' in changes || 'client_id' in changes)
      const edit = basic ? withBasic(bench, changes) : (request: WireRequest) => request
      return refused(bench, await bench.redeem(await bench.code(), basic ? {} : changes, edit))
    }
  }
}

/** Nothing was given: neither success nor a token. */
function refused (bench: Bench, exchange: Exchange): Verdict {
  const { status, body } = exchange.response as NonNullable<Exchange['response']>
  return when(status >= 300 && !body.includes('access_token'), bench.told(exchange))
}

function gives (bench: Bench, exchange: Exchange): Verdict {
  return when(readToken(exchange).ok, bench.told(exchange))
}

/** Uses a code and returns its token. @throws Untested */
async function used (bench: Bench, grant: Parameters<Bench['redeem']>[0]): Promise<string> {
  return bench.expect(readToken(await bench.redeem(grant)), 'no access token was to be had')
}

/** The form's change for another secret; with Basic the header is changed instead. */
function credentials ({ portal }: Bench, secret: string): Changes {
  return portal.clientAuthentication === 'basic' ? {} : { client_secret: secret }
}

function wrongBasic (bench: Bench): (request: WireRequest) => WireRequest {
  return bench.portal.clientAuthentication === 'basic' ? withBasic(bench, { client_secret: 'not-the-secret' }) : (request) => request
}

function withBasic ({ portal }: Bench, changes: Changes = {}): (request: WireRequest) => WireRequest {
  const { client_id: id = portal.clientId, client_secret: secret = 'client_secret' in changes ? '' : portal.clientSecret } = changes
  const authorization = ['Authorization', basicCredentials(String(id), String(secret))] as const
  return (request) => ({ ...request, headers: [...request.headers.filter(([name]) => name !== 'Authorization'), authorization] })
}

function asJson (request: WireRequest): WireRequest {
  const headers = request.headers.filter(([name]) => name !== 'Content-Type')
  return { ...request, headers: [...headers, ['Content-Type', 'application/json']], body: JSON.stringify(Object.fromEntries(new URLSearchParams(request.body))) }
}

/** Moves the credentials, wherever they were, into the query. */
function inUrl ({ portal: { clientId, clientSecret } }: Bench): (request: WireRequest) => WireRequest {
  const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret }).toString()
  return ({ headers, body, url, method }) => {
    const form = new URLSearchParams(body)
    for (const name of ['client_id', 'client_secret']) form.delete(name)
    return { method, url: `${url}?${query}`, headers: headers.filter(([name]) => name !== 'Authorization'), body: form.toString() }
  }
}
