import { setTimeout as wait } from 'node:timers/promises'
import type { Arrival } from '../../flow/browser.ts'
import { Browser, codeOf } from '../../flow/browser.ts'
import { CookieJar } from '../../flow/cookies.ts'
import type { Failure } from '../../flow/failure.ts'
import { describe, oauthError } from '../../flow/failure.ts'
import type { Edit, Grant } from '../../flow/legs.ts'
import { fetchUser, redeem, secretsOf, SignIn } from '../../flow/legs.ts'
import type { Secrets } from '../../flow/masking.ts'
import type { Changes } from '../../flow/requests.ts'
import { readArrival } from '../../flow/responses.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Leg } from '../../flow/steps.ts'
import type { Exchange } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import type { UserInformation } from '../../user-information.ts'
import type { Wait } from '../process.ts'
import { Inconclusive, Stop, Untested } from './errors.ts'
import type { Login, Settings } from './settings.ts'

/** How a token request differs from that of the portal. */
export interface Variant {
  changes?: Changes | undefined
  /** Replaces values of the integration: credentials, addresses, authentication. */
  caller?: Partial<Integration> | undefined
  edit?: Edit
}

/** A code or token, and how long the service took for the request that issued it. */
export interface Issued<Value> {
  value: Value
  milliseconds: number
}

export const realTime: Wait = (milliseconds, signal) => wait(milliseconds, undefined, { signal })

const NOBODY: Login = { cookies: [], headers: [] }
/** Names the requests of the simulator in the log of the service. */
const AGENT = ['User-Agent', 'partner-sso-portal'] as const

/**
 * The service under test, as rules see it: the requests of the portal, a user's browser, one
 * without a user.
 */
export class Service {
  readonly integration: Integration
  readonly secrets: Secrets
  readonly settings: Settings
  /** Ends the rules: at a deadline, or when the user interrupts them. */
  readonly signal: AbortSignal
  /** The browser of the user. Its cookies stay from rule to rule, as those of a real browser do. */
  readonly browser: Browser
  /** A browser whose user is not logged in. */
  readonly anonymous: Browser
  /** The last record that the service gave. */
  record: UserInformation | null = null
  /** The exchanges so far, without those with a long body. */
  readonly seen: Exchange[] = []
  #loggedOut: Promise<Arrival> | null = null

  constructor (
    integration: Integration,
    settings: Partial<Settings> = {},
    signal = new AbortController().signal
  ) {
    this.settings = {
      user: NOBODY,
      ineligible: null,
      second: null,
      codeLifetime: null,
      tokenLifetime: null,
      deadline: 0,
      loginRedirects: false,
      wait: realTime,
      onExchange: () => {},
      secrets: secretsOf(integration),
      material: {},
      ...settings
    }
    this.signal = signal
    this.integration = { ...integration, send: (request) => this.#send(integration, request) }
    this.secrets = this.settings.secrets
    this.browser = this.browserOf(this.settings.user)
    this.anonymous = this.browserOf()
    this.secrets.add(this.settings.second?.clientSecret ?? '')
    for (const { cookies, headers } of [this.settings.user, this.settings.ineligible ?? NOBODY]) {
      for (const { value } of cookies) this.secrets.add(value)
      const words = headers.flatMap(([, value]) => [value, ...value.split(' ')])
      for (const text of words) this.secrets.add(text)
    }
  }

  /** Whether something was given that identifies a user. */
  get hasUser (): boolean {
    const { cookies, headers } = this.settings.user
    return cookies.length > 0 || headers.length > 0
  }

  browserOf ({ cookies, headers }: Login = NOBODY): Browser {
    return new Browser(this.integration, new CookieJar(cookies), headers)
  }

  /** Sends the user's browser (or the given one) to the authorization endpoint. */
  async authorize (
    changes: Changes = {}, browser = this.browser, method = 'GET'
  ): Promise<Arrival> {
    return this.#arrive(new SignIn(this.integration, this.secrets).start(changes), browser, method)
  }

  /** Where a browser ends whose user is not logged in. Asks once. */
  loggedOut (): Promise<Arrival> {
    this.#loggedOut ??= this.authorize({}, this.anonymous)
    return this.#loggedOut
  }

  /** A code that nobody has redeemed. @throws Untested when the service issues no code */
  async code (): Promise<Grant> {
    return (await this.issuedCode()).value
  }

  /** The same, with the time that it took. */
  async issuedCode (): Promise<Issued<Grant>> {
    const { grant } = this.settings.material
    if (grant !== undefined) return { value: grant, milliseconds: 0 }
    const { code, verifier, arrival } = await this.granted()
    return { value: { code, verifier }, milliseconds: arrival.exchange.milliseconds }
  }

  /** The code of an authorization request of the user. @throws Untested when it gets none */
  async granted (verifier?: string) {
    const { code, reading, ...requested } = await this.request(verifier)
    // A reading without a code is a failure.
    if (code === null) throw new Untested(`there is no code: ${(reading as Failure).got}`)
    return { code, ...requested }
  }

  /** An authorization request of the user, and its code, also where the state is wrong. */
  async request (verifier?: string) {
    const flow = new SignIn(this.integration, this.secrets, verifier)
    const arrival = await this.#arrive(flow.start())
    const reading = readArrival(arrival, flow.state, this.integration)
    return { arrival, reading, code: codeOf(arrival), verifier: flow.verifier }
  }

  /** The token request with a code. */
  redeem (grant: Grant, { changes, caller, edit }: Variant = {}): Promise<Leg<string>> {
    return redeem({ ...this.integration, ...caller }, this.secrets, grant, changes, edit)
  }

  /** Redeems a code. @throws Untested when it gives no token */
  async token (grant: Grant): Promise<{ token: string, exchange: Exchange }> {
    const { reading, exchange } = await this.redeem(grant)
    if (!reading.ok) throw new Untested(`there is no access token: ${reading.got}`)
    return { token: reading.value, exchange }
  }

  /** A code that was redeemed. @throws Untested when the service issues no code or token */
  async redeemed (): Promise<Grant> {
    const grant = this.settings.material.redeemed ?? await this.code()
    if (this.settings.material.redeemed === undefined) await this.token(grant)
    return grant
  }

  /** A fresh access token. @throws Untested when the service issues no token */
  async accessToken (): Promise<string> {
    return (await this.issuedToken()).value
  }

  /** The same, with the time that it took. */
  async issuedToken (): Promise<Issued<string>> {
    const { token, exchange } = await this.token(await this.code())
    return { value: token, milliseconds: exchange.milliseconds }
  }

  /** The user request; `edit` changes it. */
  async user (accessToken: string, edit?: Edit): Promise<Leg<UserInformation>> {
    const leg = await fetchUser(this.integration, this.secrets, accessToken, edit)
    if (leg.reading.ok) this.record = leg.reading.value
    return leg
  }

  async #arrive (url: string, browser = this.browser, method = 'GET'): Promise<Arrival> {
    const arrival = await browser.open(url, method)
    this.secrets.add(codeOf(arrival) ?? '')
    const error = sentToPortal(arrival).get('error')
    if (error === 'temporarily_unavailable') throw unavailable(arrival.exchange, error)
    return arrival
  }

  /** @throws Inconclusive, Stop for no response, a rate limit, an unavailable service */
  async #send ({ send }: Integration, request: Exchange['request']): Promise<Exchange> {
    const exchange = await send({ ...request, headers: [AGENT, ...request.headers] }, this.signal)
    this.settings.onExchange(exchange)
    if (String(exchange.response?.body).length <= LONGEST_SEEN) this.seen.push(exchange)
    this.signal.throwIfAborted()
    const { networkError } = exchange
    if (networkError !== undefined) {
      const { sentence, code } = networkError
      throw new Inconclusive(sentence.replace(/\.$/, ''), code)
    }
    const status = statusOf(exchange)
    if (status === 429) throw new Stop(limited(exchange))
    if (status >= 502 && status <= 504) {
      throw unavailable(exchange, oauthError(exchange.response) ?? 'unavailable')
    }
    return exchange
  }
}

/** No response of these endpoints is longer. */
const LONGEST_SEEN = 10_000

const limited = ({ request: { method, url } }: Exchange): string =>
  `The service limits the rate of requests (429 at ${method} ${new URL(url).pathname}): ` +
  'raise its limit for the time of the check.'

const unavailable = (exchange: Exchange, error: string): Inconclusive =>
  new Inconclusive(
    `the service says that it is unavailable for the moment: ${describe(exchange)}`, error
  )

/** The parameters that the browser carries to the portal. */
export function sentToPortal (arrival: Arrival): URLSearchParams {
  return arrival.at === 'callback'
    ? new URL(arrival.callbackUrl).searchParams
    : new URLSearchParams()
}
