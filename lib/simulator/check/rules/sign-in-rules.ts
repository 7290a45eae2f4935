import { type Arrival } from '../../../testing/browser.ts'
import { describe, type Failure, oauthError } from '../../../testing/failure.ts'
import { type Call } from '../../../testing/flow.ts'
import { jsonObject, statusOf } from '../../../testing/wire.ts'
import { type Bench, NoAnswer, type Walk } from './bench.ts'
import { stopWithoutUser } from './login-state.ts'
import { fail, pass, type Rule, type Verdict } from './rule.ts'

/** Errors of a response that no OAuth endpoint gave: a hook in front of it answered. */
const HOOKED = ['redirected', 'forbidden']

/** The sign-in of the user, leg by leg. The rules that follow need it. */
export const SIGN_IN_RULES: Rule[] = [
  {
    id: 'authorize.answer',
    section: 'RFC 6749 §4.1.2',
    severity: 'must',
    sentence: 'A browser whose user is logged in is redirected to the redirect_uri with a code.',
    fix: 'Try the sign-in in the browser: partner-sso-portal serve shows every step.',
    test: async (bench) => {
      const { arrival, answer, code } = await bench.first()
      if (code !== null || answer.ok) return pass
      await stopWithoutUser(bench, arrival)
      return noCode(bench, arrival, answer)
    }
  },
  {
    id: 'token.hook',
    section: 'RFC 6749 §3.2',
    severity: 'must',
    sentence: 'No hook of the application is in front of the token endpoint: the portal calls it without cookies.',
    fix: 'Exempt /oauth/token from the application’s global hooks (login, CSRF, bot protection).',
    test: async (bench) => hooked(bench, legOf(await bench.first(), 'token'))
  },
  {
    id: 'token.body',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'The token endpoint reads the form of the request.',
    fix: 'Something reads the body before Fastify does, most often an Express body parser ' +
      '(express.urlencoded, @nestjs/platform-express, @fastify/express): exempt /oauth/token from it.',
    test: formIsRead
  },
  {
    id: 'token.answer',
    section: 'RFC 6749 §5.1',
    severity: 'must',
    sentence: 'A good request is answered with 200, application/json, token_type Bearer and access_token.',
    fix: 'Return exactly {"token_type":"Bearer","access_token":"…"}.',
    test: async (bench) => answered(bench, legOf(await bench.first(), 'token'))
  },
  {
    id: 'user.hook',
    section: 'RFC 6750 §2.1',
    severity: 'must',
    sentence: 'No hook of the application is in front of the user endpoint: the portal calls it without cookies.',
    fix: 'Exempt /oauth/user from the application’s global hooks (login, API keys, bot protection).',
    test: async (bench) => hooked(bench, legOf(await bench.first(), 'user'))
  },
  {
    id: 'user.record',
    section: 'user information record',
    severity: 'must',
    sentence: 'A good token is answered with 200, application/json and a record that the portal accepts at its level.',
    fix: 'Return the listed fields with the allowed values.',
    test: async (bench) => answered(bench, legOf(await bench.first(), 'user'))
  }
]

/** @throws the error that kept the leg from being tried */
function legOf<Leg extends 'token' | 'user'> (walk: Walk, name: Leg): Exclude<Walk[Leg], Error> {
  const call: Call<unknown> | Error = walk[name]
  if (call instanceof Error) throw call
  return call as Exclude<Walk[Leg], Error>
}

function answered (bench: Bench, { answer }: Call<unknown>): Verdict {
  return answer.ok ? pass : fail(bench.got(answer), answer.fix)
}

function hooked (bench: Bench, { answer }: Call<unknown>): Verdict {
  return answer.ok || !HOOKED.includes(answer.error) ? pass : fail(bench.got(answer))
}

/** The user is known, and still there is no code. */
async function noCode (bench: Bench, arrival: Arrival, found: Failure): Promise<Verdict> {
  if (found.step !== 6 || arrival.at !== 'page') return fail(bench.got(found), found.fix)
  const { exchange } = arrival
  const isJson = oauthError(exchange.response) !== null
  const explained = isJson ? bench.told(exchange) : await asked(bench, exchange.request.url)
  return fail(explained, registeredFix(bench, explained))
}

/** An error page says little to a program: the same request, for a client that asks for JSON. */
async function asked (bench: Bench, url: string): Promise<string> {
  const exchange = await bench.portal.send({ method: 'GET', url, headers: [['Accept', 'application/json']] })
  return bench.told(exchange)
}

function registeredFix ({ portal: { redirectUri, clientId } }: Bench, explained: string): string {
  const uri = `Register exactly ${redirectUri} at the service, or give the registered one with --redirect-uri.`
  const client = `Register the client_id ${clientId} at the service, or give the registered one with --client-id.`
  if (explained.includes('redirect_uri')) return uri
  return explained.includes('client_id') ? client : `${uri} ${client}`
}

/**
 * A complete form that gets no answer, or the same error as one that is plainly wrong, was not read. The form in
 * question is sent twice, so that one slow answer is no finding.
 */
async function formIsRead (bench: Bench): Promise<Verdict> {
  const { token, code } = await bench.first()
  if (token instanceof NoAnswer && token.trouble.code === 'timeout') return hangs(bench, token)
  const call = legOf({ token } as Walk, 'token')
  if (call.answer.ok || call.answer.error !== 'invalid_request' || statusOf(call.exchange) !== 400) return pass
  const wrong = await bench.redeem({ code: String(code) }, { grant_type: 'no-such-grant' })
  const same = JSON.stringify(jsonObject(wrong.response)) === JSON.stringify(jsonObject(call.exchange.response))
  return same ? fail(`${bench.got(call.answer)}, for a complete form and for a wrong one alike`) : pass
}

async function hangs (bench: Bench, first: NoAnswer): Promise<Verdict> {
  const { send, tokenUrl } = bench.portal
  const empty = await send({ method: 'POST', url: tokenUrl, headers: [['Accept', 'application/json']] })
  try {
    await bench.redeem({ code: 'an-unknown-code' }, { grant_type: 'no-such-grant' })
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return fail(`${first.message} to a form; a request without body gets ${describe(empty)}`)
  }
  throw first
}
