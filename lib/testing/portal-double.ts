import type { Arrival } from '../flow/browser.ts'
import { Browser } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { CookieJar, parseGiven } from '../flow/cookies.ts'
import type { Failure } from '../flow/failure.ts'
import { fetchUser, redeem, secretsOf, SignIn } from '../flow/legs.ts'
import type { Changes } from '../flow/requests.ts'
import type { Reading } from '../flow/responses.ts'
import type { PortalOptions } from '../flow/integration.ts'
import { createIntegration } from '../flow/integration.ts'
import type { Leg, StepReport } from '../flow/steps.ts'
import type { UserInformation } from '../user-information.ts'
import type { WireResponse } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'

/**
 * What identifies the user to the partner's application. Cookies, headers and login can be
 * combined.
 */
export interface User {
  /** The session cookie or cookies: `sid=abc; theme=dark`, or names and values. */
  cookies?: string | Record<string, string>
  /** Headers that identify the user, sent with every browser request to the application. */
  headers?: Record<string, string>
  /**
   * Logs the user in through the application's own login page, as a person would. Called once, when
   * the browser ended on a page and not at the portal. Afterwards the authorization request is made
   * again, unless the login itself led to the portal. What it throws rejects `signIn` or
   * `authorize`.
   *
   * @example
   * login: (page) => page.post({ user: 'ada', password: 'secret' })
   */
  login?: (page: LoginPage) => unknown
}

/** The page on which the browser is while nobody is logged in. */
export interface LoginPage {
  /** Address of the page, with its query (`?return_to=…`). */
  url: string
  status: number
  body: string
  /**
   * Sends a form as the user would, with the browser's cookies, and follows redirects.
   *
   * @param fields - the names and values of the form
   * @param url - relative to this page; default: this page's own address
   * @returns the last response; undefined when there is none
   * @throws TypeError when the address is of another origin: no cookie leaves the application
   */
  post (fields: Record<string, string>, url?: string): Promise<WireResponse | undefined>
  /** Opens an address (relative to this page) in the same way. */
  get (url: string): Promise<WireResponse | undefined>
}

/** A failure and the fifteen steps up to it, secrets hidden. */
export type Failed = Failure & { steps: StepReport[] }

/** The result of `signIn`: the record that the portal gets, or the step that failed and why. */
export type SignInResult = { ok: true, record: UserInformation, steps: StepReport[] } | Failed

/** The result of `authorize`. */
export type AuthorizeResult = {
  ok: true
  code: string
  state: string
  /** The PKCE verifier. Absent without the option `pkce`. */
  verifier?: string
  steps: StepReport[]
} | Failed

/** The result of `token`. The response is as it was sent: secrets are not hidden in it. */
export type TokenResult =
  | { ok: true, accessToken: string, response: WireResponse }
  | (Failure & { response?: WireResponse })

/** The result of `user`. */
export type UserResult =
  | { ok: true, record: UserInformation, response: WireResponse }
  | (Failure & { response?: WireResponse })

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
  signIn (user?: User): Promise<SignInResult>
  /**
   * Steps 1 to 8, `GET /oauth/authorize` and the way through the login. Returns the code.
   *
   * @param user - who is logged in; nobody by default
   * @param parameters - changes the request: another value, several values, or undefined to leave a
   * parameter out
   */
  authorize (user?: User, parameters?: Changes): Promise<AuthorizeResult>
  /**
   * Steps 9 to 12, `POST /oauth/token`: exchanges a code for an access token.
   *
   * @param options - the verifier that `authorize` returned, and changes to the form
   */
  token (code: string, options?: { verifier?: string, parameters?: Changes }): Promise<TokenResult>
  /** Steps 13 to 15, `GET /oauth/user`: exchanges an access token for the record. */
  user (accessToken: string): Promise<UserResult>
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
    async signIn (user = {}) {
      const flow = new SignIn(integration)
      const record = await walk(flow, user)
      return { ...record.ok ? { ok: true, record: record.value } : record, steps: flow.steps() }
    },
    async authorize (user = {}, parameters = {}) {
      const flow = new SignIn(integration)
      const code = await arrive(flow, user, parameters)
      if (!code.ok) return { ...code, steps: flow.steps() }
      const verifier = flow.verifier === undefined ? {} : { verifier: flow.verifier }
      return { ok: true, code: code.value, state: flow.state, ...verifier, steps: flow.steps() }
    },
    async token (code, { verifier, parameters } = {}) {
      const leg = await redeem(integration, secretsOf(integration), { code, verifier }, parameters)
      return resultOf(leg, 'accessToken') as TokenResult
    },
    async user (accessToken) {
      const leg = await fetchUser(integration, secretsOf(integration), accessToken)
      return resultOf(leg, 'record') as UserResult
    }
  }
}

function resultOf ({ reading, exchange: { response } }: Leg<unknown>, name: string): object {
  const result = reading.ok ? { ok: true, [name]: reading.value } : { ...reading }
  return response === undefined ? result : { ...result, response }
}

async function walk (flow: SignIn, user: User): Promise<Reading<UserInformation>> {
  const code = await arrive(flow, user)
  if (!code.ok) return code
  const accessToken = await flow.redeem(code.value)
  return accessToken.ok ? flow.fetchUser(accessToken.value) : accessToken
}

/** Steps 1 to 8. */
async function arrive (
  flow: SignIn, user: User, parameters: Changes = {}
): Promise<Reading<string>> {
  const browser = new Browser(
    flow.integration, new CookieJar(cookiesOf(user.cookies)), Object.entries(user.headers ?? {})
  )
  const url = flow.start(parameters)
  const arrival = await browser.open(url)
  if (arrival.at !== 'page' || user.login === undefined) return flow.arrived(arrival)
  return flow.arrived(await logIn(browser, arrival, user.login) ?? await browser.open(url))
}

/** Lets the caller log in; returns the arrival at the portal when the login led there. */
async function logIn (
  browser: Browser, page: Arrival, login: NonNullable<User['login']>
): Promise<Arrival | null> {
  let callback: Arrival | null = null
  const visit = async (url: string, method: string, body?: string) => {
    const next = await browser.open(new URL(url, page.url).href, method, body)
    if (next.at === 'callback') callback = next
    return next.exchange.response
  }
  await login({
    url: page.url,
    status: statusOf(page.exchange),
    body: page.exchange.response?.body as string,
    post: (fields, url = page.url) => visit(url, 'POST', new URLSearchParams(fields).toString()),
    get: (url) => visit(url, 'GET')
  })
  return callback
}

function cookiesOf (cookies: string | Record<string, string> = {}): Cookie[] {
  if (typeof cookies === 'string') return parseGiven(cookies)
  return Object.entries(cookies).map(([name, value]) => ({ name, value, secure: false }))
}
