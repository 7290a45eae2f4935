import { readToken } from '../../../testing/answers.ts'
import { oauthError } from '../../../testing/failure.ts'
import { type Edit } from '../../../testing/flow.ts'
import { basicCredentials, type Changes, randomText } from '../../../testing/requests.ts'
import { type Exchange, header, jsonObject, statusOf } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { everyOf, fail, inTime, pass, type Rule, type Verdict, when } from './rule.ts'
import { Untested } from './untested.ts'

const RACERS = 20
const RACES = 3
const CODES = [
  'invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'
]
const UNKNOWN = { code: 'an-unknown-code' }

/** `POST /oauth/token`. */
export const TOKEN_RULES: Rule[] = [
  refusal('token.wrong-secret', 'RFC 6749 §3.2.1', 'A wrong client_secret is refused.',
    'Compare the secret, in constant time, before anything is issued.', { client_secret: 'not-the-secret' }),
  refusal('token.unknown-client', 'RFC 6749 §3.2.1', 'An unknown client_id is refused.',
    'Compare the client_id with the one given to the portal.', { client_id: 'nobody' }),
  refusal('token.missing-secret', 'RFC 6749 §3.2.1', 'A request without client_secret is refused.',
    'client_secret is required.', { client_secret: undefined }),
  refusal('token.foreign-redirect-uri', 'RFC 6749 §4.1.3', 'Another redirect_uri than the registered one is refused.',
    'Compare the redirect_uri with the registered one as whole strings.',
    { redirect_uri: 'https://foreign.example/callback' }),
  refusal('token.missing-redirect-uri', 'RFC 6749 §4.1.3', 'A request without redirect_uri is refused.',
    'redirect_uri is required.', { redirect_uri: undefined }),
  refusal('token.grant-type', 'RFC 6749 §4.1.3', 'Another grant_type is refused.',
    'Accept grant_type=authorization_code only.', { grant_type: 'password' }),
  refusal('token.missing-grant-type', 'RFC 6749 §4.1.3', 'A request without grant_type is refused.',
    'grant_type is required.', { grant_type: undefined }),
  refusal('token.unknown-code', 'RFC 6749 §5.2', 'An unknown code is refused.',
    'Look the code up among those issued.', UNKNOWN),
  refusal('token.missing-code', 'RFC 6749 §4.1.3', 'A request without code is refused.',
    'code is required.', { code: undefined }),
  {
    id: 'token.replayed-code',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A used code is refused.',
    fix: 'Remove the code when it is used.',
    after: ['token.unknown-code'],
    test: async (bench) => {
      const grant = await bench.code()
      await bench.used(grant)
      return refused(bench, await bench.redeem(grant))
    }
  },
  {
    id: 'token.race',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: `Of ${RACERS} requests with the same code at the same time at most one gets a token.`,
    fix: 'Read and remove the code in one atomic command (Redis: GETDEL), not one after the other.',
    after: ['token.unknown-code', 'token.replayed-code'],
    test: (bench) => raced(RACES, async () => {
      const grant = await bench.code()
      const exchanges = await Promise.all(Array.from({ length: RACERS }, () => bench.redeem(grant)))
      return exchanges.filter((exchange) => readToken(exchange).ok).length
    })
  },
  {
    id: 'token.code-lifetime',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A code expires.',
    fix: 'Let codes expire shortly after they were issued, within ten minutes at most.',
    after: ['token.unknown-code'],
    test: async (bench) => {
      const { codeLifetime, wait } = bench.settings
      if (codeLifetime === null) throw new Untested('it needs --code-lifetime')
      const grant = await bench.code()
      await wait(codeLifetime * 1000 + 1000, bench.signal)
      return refused(bench, await bench.redeem(grant))
    }
  },
  {
    id: 'token.access-token-as-code',
    section: 'RFC 6749 §1.3.1, §1.4',
    severity: 'must',
    sentence: 'An access token is no code.',
    fix: 'Keep codes and tokens apart.',
    after: ['token.unknown-code'],
    test: async (bench) => refused(bench, await bench.redeem({ code: await bench.accessToken() }))
  },
  {
    id: 'token.no-store',
    section: 'RFC 6749 §5.1',
    severity: 'must',
    sentence: 'The response with the token must not be cached.',
    fix: 'Send Cache-Control: no-store with every response of the endpoint.',
    test: async (bench) => {
      const { response } = issued(bench, await bench.redeem(await bench.code()))
      const value = header(response, 'cache-control')
      return when(/no-store/i.test(value), value === '' ? 'no Cache-Control' : `Cache-Control: ${value}`)
    }
  },
  {
    id: 'token.error',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'An unknown code is answered with 400, JSON and the error invalid_grant.',
    fix: 'Send 400 and {"error":"invalid_grant"} as application/json.',
    after: ['token.unknown-code'],
    test: async (bench) => {
      const exchange = await bench.redeem(UNKNOWN)
      const good = statusOf(exchange) === 400 && oauthError(exchange.response) === 'invalid_grant'
      return when(good, bench.told(exchange))
    }
  },
  {
    id: 'token.error-codes',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'An incomplete request is answered with a JSON error of the RFC.',
    fix: 'Send 400 and {"error":"invalid_request"} as application/json.',
    after: ['token.error'],
    test: async (bench) => {
      const exchange = await bench.redeem(UNKNOWN, { grant_type: undefined })
      return when(CODES.includes(String(oauthError(exchange.response))), bench.told(exchange))
    }
  },
  {
    id: 'token.client-challenge',
    section: 'RFC 6749 §5.2',
    severity: 'should',
    sentence: 'A wrong secret is answered with 401, WWW-Authenticate and the error invalid_client.',
    fix: 'Send 401 with WWW-Authenticate: Basic and {"error":"invalid_client"}.',
    after: ['token.wrong-secret', 'token.error'],
    test: async (bench) => {
      const exchange = await wrongSecret(bench, UNKNOWN)
      const challenged = header(exchange.response, 'www-authenticate') !== ''
      const good = statusOf(exchange) === 401 && challenged && oauthError(exchange.response) === 'invalid_client'
      return when(good, `${bench.told(exchange)}${challenged ? '' : ', no WWW-Authenticate'}`)
    }
  },
  {
    id: 'token.basic',
    section: 'RFC 6749 §2.3.1',
    severity: 'should',
    sentence: 'The credentials are accepted as HTTP Basic, too.',
    fix: 'Read Authorization: Basic, each part form-decoded.',
    test: (bench) => inTime(async () => {
      const none = { client_id: undefined, client_secret: undefined }
      return gives(bench, await bench.redeem(await bench.code(), none, withBasic(bench)))
    })
  },
  {
    id: 'token.wrong-caller-burns-nothing',
    section: 'RFC 6749 §10.5',
    severity: 'should',
    sentence: 'A request with a wrong secret leaves the code as it was.',
    fix: 'Check the credentials before the code is taken: else anyone who saw a code can spoil the sign-in.',
    after: ['token.wrong-secret'],
    test: (bench) => inTime(async () => {
      const grant = await bench.code()
      await wrongSecret(bench, grant)
      return gives(bench, await bench.redeem(grant))
    })
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
    section: 'RFC 6749 §4.1.3',
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
    fix: 'Refuse a request with a repeated parameter.',
    test: async (bench) => {
      const grant = await bench.code()
      return refused(bench, await bench.redeem(grant, { code: [grant.code, grant.code] }))
    }
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
  test: async (bench) => {
    const grant = await bench.code()
    const token = await bench.used(grant)
    await bench.redeem(grant)
    return when(!await bench.admits(token), 'the record, for the token of the replayed code')
  }
}

/**
 * More than one winner of a race is a mistake for certain. No winner is none: a request that comes after the first is a
 * replay, and may revoke what the first one gets (RFC 6749 §4.1.2).
 */
export async function raced (rounds: number, race: () => Promise<number>): Promise<Verdict> {
  let most = 0
  for (let round = 0; round < rounds; round++) most = Math.max(most, await race())
  if (most === 0) throw new Untested(`no request won one of ${rounds} races: a replay may have revoked the result`)
  return when(most === 1, `${most} of ${RACERS} succeeded`)
}

/** A rule on one wrong or missing parameter beside a good code. */
function refusal (id: string, section: string, sentence: string, fix: string, changes: Changes): Rule {
  return {
    id,
    section,
    severity: 'must',
    sentence,
    fix,
    test: async (bench) => {
      const ofCaller = 'client_secret' in changes || 'client_id' in changes
      const grant = await bench.code()
      const exchange = bench.portal.clientAuthentication === 'basic' && ofCaller
        ? await bench.redeem(grant, {}, withBasic(bench, changes))
        : await bench.redeem(grant, changes)
      return refused(bench, exchange)
    }
  }
}

/** No token was given. An error with a status of success is no token either, but no good answer. */
function refused (bench: Bench, exchange: Exchange): Verdict {
  if (jsonObject(exchange.response)?.access_token !== undefined) return fail(bench.told(exchange))
  return statusOf(exchange) >= 300 ? pass : fail(bench.told(exchange), 'Answer an error with 400 or 401.', 'should')
}

function gives (bench: Bench, exchange: Exchange): Verdict {
  return when(readToken(exchange).ok, bench.told(exchange))
}

/** The exchange that gave a token. @throws Untested when it did not */
function issued (bench: Bench, exchange: Exchange): Exchange {
  bench.expect(readToken(exchange), 'there is no access token')
  return exchange
}

/** The token request with a wrong secret, where the integration sends it. */
function wrongSecret (bench: Bench, grant: { code: string, verifier?: string | undefined }): Promise<Exchange> {
  const wrong = { client_secret: 'not-the-secret' }
  return bench.portal.clientAuthentication === 'basic'
    ? bench.redeem(grant, {}, withBasic(bench, wrong))
    : bench.redeem(grant, wrong)
}

function withBasic ({ portal }: Bench, changes: Changes = {}): Edit {
  const id = String(changes.client_id ?? portal.clientId)
  const secret = 'client_secret' in changes ? String(changes.client_secret ?? '') : portal.clientSecret
  const authorization = ['Authorization', basicCredentials(id, secret)] as const
  return (request) => {
    const headers = request.headers.filter(([name]) => name !== 'Authorization')
    return { ...request, headers: [...headers, authorization] }
  }
}

const asJson: Edit = (request) => {
  const headers = request.headers.filter(([name]) => name !== 'Content-Type')
  const body = JSON.stringify(Object.fromEntries(new URLSearchParams(request.body)))
  return { ...request, headers: [...headers, ['Content-Type', 'application/json']], body }
}

/** Moves the credentials, wherever they were, into the query. */
function inUrl ({ portal: { clientId, clientSecret } }: Bench): Edit {
  const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret }).toString()
  return ({ headers, body, url, method }) => {
    const form = new URLSearchParams(body)
    for (const name of ['client_id', 'client_secret']) form.delete(name)
    const rest = headers.filter(([name]) => name !== 'Authorization')
    return { method, url: `${url}?${query}`, headers: rest, body: form.toString() }
  }
}
