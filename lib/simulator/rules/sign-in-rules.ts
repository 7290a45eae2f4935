import { describe } from '../../flow/failure.ts'
import type { Leg } from '../../flow/steps.ts'
import { jsonObject, statusOf } from '../../flow/wire.ts'
import { Failed, Inconclusive, Untested } from './errors.ts'
import { mustSucceed, withCode, withToken } from './in-time.ts'
import { explainRefusal } from './registered.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { stopWithoutUser } from './without-user.ts'

/** Errors of a response that no OAuth endpoint gave: a hook in front of it responded. */
const HOOKED = ['redirected', 'forbidden']

/** Sign-ins that are compared, and how often a refused request is sent again. */
const SAMPLES = 6
const REPEATS = 16

/**
 * Comes first: a service whose processes do not share a store looks broken in a different way each
 * time.
 */
export const ONE_STORE_RULE: Rule = {
  id: 'service.one-store',
  section: 'RFC 6749 §4.1.2',
  severity: 'must',
  sentence: 'The same request gets the same response, whichever process of the service it reaches.',
  fix:
    'Let all processes share one store of codes and tokens (the plugin’s option redis or ' +
    'store), and one of sessions.',
  isPrerequisite: true,
  async test (service) {
    let codes = 0
    let refused: string | null = null
    for (let sample = 0; sample < SAMPLES; sample++) {
      const { arrival, code, verifier } = await service.request()
      if (code === null) {
        if (codes > 0) refused ??= describe(arrival.exchange)
        continue
      }
      if (refused !== null) throw different('GET /oauth/authorize', refused, 'a code')
      codes += 1
      const token = await repeated('POST /oauth/token', () => service.redeem({ code, verifier }))
      if (token === null) return
      if (await repeated('GET /oauth/user', () => service.user(token)) === null) return
    }
  }
}

/**
 * Sends a request again that was refused: a used or unknown code or token stays refused.
 *
 * @returns null when it does not succeed, which is the subject of other rules
 * @throws Failed when it succeeds after a refusal
 */
async function repeated<Value> (
  name: string, send: () => Promise<Leg<Value>>
): Promise<Value | null> {
  let refused: string | null = null
  for (let time = 0; time < REPEATS; time++) {
    const { reading, exchange } = await send().catch(asUntested)
    if (reading.ok && refused !== null) throw different(name, refused, describe(exchange))
    if (reading.ok) return reading.value
    if (![400, 401, 403].includes(statusOf(exchange))) return null
    refused ??= describe(exchange)
  }
  return null
}

/** For a failure of one endpoint: the rules on the others are still tried. */
function asUntested (error: Error): never {
  throw error instanceof Inconclusive ? new Untested(error.message) : error
}

const different = (request: string, one: string, other: string): Failed =>
  new Failed('the same request got different responses, so processes do not share a store: ' +
    `${request}: ${one}, then ${other}`)

/** The sign-in of the user, leg by leg. The rules that follow need it. */
export const CODE_RULE: Rule = {
  id: 'authorize.code',
  section: 'RFC 6749 §4.1.2',
  severity: 'must',
  sentence: 'A browser whose user is logged in is redirected to the redirect_uri with a code.',
  fix: 'Try the sign-in in the browser: partner-sso-portal serve shows every step.',
  isPrerequisite: true,
  async test (service) {
    const { arrival, reading, code } = await service.request()
    if (code !== null || reading.ok) return
    await stopWithoutUser(service, arrival)
    if (reading.step === 6 && arrival.at === 'page') {
      throw await explainRefusal(service, arrival.exchange)
    }
    throw new Failed(reading.got, reading.fix)
  }
}

/** More than one Base64 code in three has a + : among so many, one almost certainly has it. */
const MOST_CODES = 24

export const ENCODED_CODE_RULE: Rule = {
  id: 'authorize.code-encoded',
  section: 'RFC 6749 §4.1.2',
  severity: 'must',
  sentence: 'The code is encoded in the redirect.',
  fix: 'Encode the code as a parameter of a URL, with URLSearchParams or encodeURIComponent.',
  isPrerequisite: true,
  test: async (service) => {
    for (let count = 0; count < MOST_CODES; count++) {
      const { code, verifier } = await service.granted()
      if (!code.includes(' ')) continue
      const { reading } = await service.redeem({ code: code.replaceAll(' ', '+'), verifier })
      return expect(!reading.ok, 'a code with a + that was not encoded: in a URL it is a space')
    }
  }
}

export const TOKEN_LEG_RULES: readonly Rule[] = [
  {
    id: 'token.body',
    section: 'RFC 6749 §4.1.3',
    severity: 'must',
    sentence: 'The token endpoint reads the form of the request.',
    fix:
      'Something reads the body before Fastify does, most often an Express body parser ' +
      '(express.urlencoded, @nestjs/platform-express, @fastify/express): exempt /oauth/token ' +
      'from it.',
    isPrerequisite: true,
    test: formIsRead
  },
  {
    id: 'token.hook',
    section: 'RFC 6749 §3.2',
    severity: 'must',
    sentence:
      'No hook of the application is in front of the token endpoint: the portal calls it ' +
      'without cookies.',
    fix: 'Exempt /oauth/token from the application’s global hooks (login, CSRF, bot protection).',
    isPrerequisite: true,
    test: async (service) => notHooked(await service.redeem(await service.code()))
  },
  {
    id: 'token.response',
    section: 'RFC 6749 §5.1',
    severity: 'must',
    sentence:
      'The response to a good request is 200, application/json, token_type Bearer and ' +
      'access_token.',
    fix: 'Return exactly {"token_type":"Bearer","access_token":"…"}.',
    isPrerequisite: true,
    test: withCode(async (service, grant) => mustSucceed(await service.redeem(grant)), Inconclusive)
  }
]

export const USER_LEG_RULES: readonly Rule[] = [
  {
    id: 'user.hook',
    section: 'RFC 6750 §2.1',
    severity: 'must',
    sentence:
      'No hook of the application is in front of the user endpoint: the portal calls it without ' +
      'cookies.',
    fix:
      'Exempt /oauth/user from the application’s global hooks (login, API keys, bot ' +
      'protection).',
    isPrerequisite: true,
    test: async (service) => notHooked(await service.user(await service.accessToken()))
  },
  {
    id: 'user.record',
    section: 'user information record',
    severity: 'must',
    sentence:
      'The response to a good token is 200, application/json and a record that the portal ' +
      'accepts at its level.',
    fix: 'Return the listed fields with the allowed values.',
    isPrerequisite: true,
    test: withToken(async (service, token) => mustSucceed(await service.user(token)), Inconclusive)
  }
]

function notHooked ({ reading }: Leg<unknown>): void {
  if (!reading.ok) expect(!HOOKED.includes(reading.error), reading.got)
}

/**
 * The form was not read if it gets no response, or the same error as a form that is plainly
 * wrong.
 */
async function formIsRead (service: Service): Promise<void> {
  const wrong = () =>
    service.redeem({ code: 'an-unknown-code' }, { changes: { grant_type: 'no-such-grant' } })
  const grant = await service.code()
  const { reading, exchange } =
    await service.redeem(grant).catch((error) => hangs(service, error, wrong))
  if (reading.ok || reading.error !== 'invalid_request' || statusOf(exchange) !== 400) return
  const bodies = [exchange, (await wrong()).exchange].map(({ response }) =>
    JSON.stringify(jsonObject(response)))
  expect(
    bodies[0] !== bodies[1], `${describe(exchange)}, for a complete form and for a wrong one alike`
  )
}

/**
 * Fails if a second form gets no response either, but a request without body gets one. A single
 * slow response proves nothing.
 */
async function hangs (
  service: Service, first: unknown, wrong: () => Promise<unknown>
): Promise<never> {
  if (!isTimeout(first)) throw first
  const { send, tokenUrl } = service.integration
  const empty =
    await send({ method: 'POST', url: tokenUrl, headers: [['Accept', 'application/json']] })
  await wrong().catch((second: unknown) => {
    expect(
      !isTimeout(second),
      `${first.message} to a form; a request without body gets ${describe(empty)}`
    )
    if (!(second instanceof Inconclusive)) throw second
  })
  throw first
}

const isTimeout = (error: unknown): error is Inconclusive => error instanceof Inconclusive &&
  error.code === 'timeout'
