import type { Failure } from '../flow/failure.ts'
import type { Run } from '../check/run.ts'
import { run } from '../check/run.ts'
import { Subject } from '../check/subject.ts'
import type { Leg } from '../flow/legs.ts'
import { fetchUser, redeem, SignIn } from '../flow/legs.ts'
import { Secrets } from '../flow/masking.ts'
import type { Changes, IssuedCode } from '../flow/requests.ts'
import type { Reading } from '../flow/responses.ts'
import type { PortalOptions } from '../flow/integration.ts'
import { createIntegration } from '../flow/integration.ts'
import type { StepReport } from '../flow/steps.ts'
import type { UserInformation } from '../user-information.ts'
import type { User } from '../flow/user.ts'
import { browserOf } from '../flow/user.ts'
import type { WireResponse } from '../flow/wire.ts'

/** A failure and the fifteen steps up to it, secrets hidden. */
export type FailedSignIn = Failure & { steps: StepReport[] }

type WithSteps<Value> = ({ ok: true, steps: StepReport[] } & Value) | FailedSignIn
type WithResponse<Value> =
  | ({ ok: true, response: WireResponse } & Value)
  | (Failure & { response?: WireResponse | undefined })

/** The result of `signIn`: the record that the portal gets, or the step that failed and why. */
export type SignInResult = WithSteps<{ record: UserInformation }>

/** The result of `authorize`. Without the option `pkce` there is no PKCE verifier. */
export type AuthorizeResult =
  WithSteps<{ code: string, state: string, verifier?: string | undefined }>

/** The result of `token`. The response is as it was sent: secrets are not hidden in it. */
export type TokenResult = WithResponse<{ accessToken: string }>

/** The result of `user`. */
export type UserResult = WithResponse<{ record: UserInformation }>

/**
 * The portal, for the tests of a partner's service. No method rejects for what the service does:
 * see `ok`.
 */
export interface PortalDouble {
  /**
   * The whole sign-in: authorization request, token request, user request.
   *
   * @param user - who is logged in; nobody by default
   */
  signIn(user?: User): Promise<SignInResult>
  /**
   * Steps 1 to 8, `GET /oauth/authorize` and the way through the login. Returns the code.
   *
   * @param user - who is logged in; nobody by default
   * @param parameters - changes the request: another value, several values, or undefined to leave a
   * parameter out
   */
  authorize(user?: User, parameters?: Changes): Promise<AuthorizeResult>
  /**
   * Steps 9 to 12, `POST /oauth/token`: exchanges a code for an access token.
   *
   * @param options - the verifier that `authorize` returned, and changes to the form
   */
  token(
    code: string,
    options?: { verifier?: string | undefined; parameters?: Changes }
  ): Promise<TokenResult>
  /** Steps 13 to 15, `GET /oauth/user`: exchanges an access token for the record. */
  user(accessToken: string): Promise<UserResult>
  /**
   * Tries what a host can break: hooks, the login and its cookie, policies, the records of users, the
   * store, proxies in front. About a hundred requests; in-process they take half a second. Give
   * users who were made for tests.
   *
   * @example
   * const { ok, rules } = await double.check({ user: { login: { user: 'ada' } } })
   * assert.ok(ok, report(rules))
   *
   * @throws what `login` throws
   */
  check(users?: CheckedUsers): Promise<Run>
}

/** Who takes part in a check. */
export interface CheckedUsers {
  /** A user who may enter; a second one is tried at the same time as the first. */
  user?: User | readonly User[]
  /** A user who may not enter. */
  ineligible?: User
}

/**
 * Plays the portal against a service: a Fastify app in-process (`app`), or a running server
 * (`baseUrl`).
 *
 * @example
 * const double = portal({ app, clientId, clientSecret, redirectUri })
 * const result = await double.signIn({ cookies: 'sid=abc' })
 * if (result.ok) assert.equal(result.record.external_id, '42')
 *
 * @throws TypeError that names a bad option
 */
export function portal (options: PortalOptions): PortalDouble {
  const integration = createIntegration(options)
  return {
    async signIn (user) {
      const flow = new SignIn(integration)
      const issued = await arrive(flow, user)
      const record = issued.ok ? await flow.complete(issued.value) : issued
      const steps = flow.steps()
      return record.ok
        ? { ok: true, record: record.value, steps }
        : { ...record, steps }
    },
    async authorize (user, parameters) {
      const flow = new SignIn(integration)
      const issued = await arrive(flow, user, parameters)
      const steps = flow.steps()
      return issued.ok
        ? { ok: true, ...issued.value, state: flow.state, steps }
        : { ...issued, steps }
    },
    async token (code, { verifier, parameters } = {}) {
      const leg = await redeem(integration, new Secrets(integration), { code, verifier }, parameters)
      return resultOf(leg, 'accessToken') as TokenResult
    },
    async user (accessToken) {
      const leg = await fetchUser(integration, new Secrets(integration), accessToken)
      return resultOf(leg, 'record') as UserResult
    },
    check ({ user = [], ineligible = null } = {}) {
      const users = [user].flat() as User[]
      return run(new Subject(integration, { users, ineligible, isInProcess: options.app !== undefined }))
    }
  }
}

function resultOf ({ reading, exchange: { response } }: Leg<unknown>, name: string): object {
  const result = reading.ok ? { ok: true, [name]: reading.value } : reading
  return { ...result, response }
}

/** Steps 1 to 8. */
async function arrive (flow: SignIn, user: User = {}, parameters?: Changes): Promise<Reading<IssuedCode>> {
  const { reading } = await flow.visit(browserOf(flow.integration, user), user.login, parameters)
  return reading
}
