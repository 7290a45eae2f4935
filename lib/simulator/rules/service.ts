import { setTimeout as wait } from 'node:timers/promises'
import type { Arrival } from '../../testing/browser.ts'
import { Browser, codeOf } from '../../testing/browser.ts'
import type { Cookie } from '../../testing/cookies.ts'
import { CookieJar } from '../../testing/cookies.ts'
import type { Failure } from '../../testing/failure.ts'
import { describe, fixFor, oauthError } from '../../testing/failure.ts'
import type { Edit, Grant } from '../../testing/legs.ts'
import { fetchUser, redeem, secretsOf, SignIn } from '../../testing/legs.ts'
import type { Secrets } from '../../testing/masking.ts'
import type { Changes } from '../../testing/requests.ts'
import { randomText } from '../../testing/requests.ts'
import type { Reading } from '../../testing/responses.ts'
import { readArrival } from '../../testing/responses.ts'
import type { Integration } from '../../testing/settings.ts'
import type { Leg } from '../../testing/steps.ts'
import type { Exchange, Headers } from '../../testing/wire.ts'
import { statusOf } from '../../testing/wire.ts'
import type { UserInformation } from '../../user-information.ts'
import type { Wait } from '../process.ts'
import { Inconclusive, NoResponse, Stop, Untested } from './errors.ts'

/** What identifies a user to the partner's application. */
export interface Login {
  cookies: Cookie[]
  headers: Headers
}

/** What a sign-in has left: a rule uses it before it asks the service for something of its own. Each is used once. */
export interface Material {
  /** A code that nobody has redeemed. */
  grant?: Grant
  /** A code that was redeemed. */
  redeemed?: Grant
  /** An access token that nobody has used. */
  accessToken?: string
  /** An access token that was used. */
  usedToken?: string
  /** Where the browser of a user arrived who may not enter. */
  ineligible?: Arrival
}

export const realTime: Wait = (milliseconds, signal) => wait(milliseconds, undefined, { signal })

export interface Settings {
  /** Nobody by default. */
  user: Login
  /** A user who may not enter, where one was named. */
  ineligible: Login | null
  /** Seconds after which a code has expired, where they were named. */
  codeLifetime: number | null
  /** Whether it is known that the login responds with a redirect. */
  loginRedirects: boolean
  material: Material
  /** Where secrets are added; those of the integration by default. */
  secrets: Secrets
  /** Lets time pass until the signal is aborted. Real time by default. */
  wait: Wait
  /** Called with each exchange, secrets not hidden. */
  onExchange: (exchange: Exchange) => void
}

interface CodeOptions { verifier?: string | undefined, changes?: Changes }

/** An authorization request, and what came of it. */
export interface Requested {
  arrival: Arrival
  reading: Reading<string>
  /** The code that the arrival carries, also where its state is wrong. */
  code: string | null
  verifier: string | undefined
}

const NOBODY: Login = { cookies: [], headers: [] }
/** Names the requests of the simulator in the log of the service. */
const AGENT = ['User-Agent', 'partner-sso-portal'] as const

/** The service under test, as rules see it: the requests of the portal, a user's browser, one without a user. */
export class Service {
  readonly portal: Integration
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
  #loggedOut: Promise<Arrival> | null = null

  constructor (portal: Integration, settings: Partial<Settings> = {}, signal = new AbortController().signal) {
    this.settings = {
      user: NOBODY,
      ineligible: null,
      codeLifetime: null,
      loginRedirects: false,
      wait: realTime,
      onExchange: () => {},
      secrets: secretsOf(portal),
      ...settings,
      material: { ...settings.material }
    }
    this.signal = signal
    this.portal = { ...portal, send: (request) => this.#send(portal, request) }
    this.secrets = this.settings.secrets
    this.browser = this.browserOf(this.settings.user)
    this.anonymous = this.browserOf()
    for (const { cookies, headers } of [this.settings.user, this.settings.ineligible ?? NOBODY]) {
      for (const { value } of cookies) this.secrets.add(value)
      for (const [, value] of headers) for (const text of [value, ...value.split(' ')]) this.secrets.add(text)
    }
  }

  /** Whether something was given that identifies a user. */
  get hasUser (): boolean {
    const { cookies, headers } = this.settings.user
    return cookies.length > 0 || headers.length > 0
  }

  browserOf ({ cookies, headers }: Login = NOBODY): Browser {
    return new Browser(this.portal, new CookieJar(cookies), headers)
  }

  /** Sends the user's browser (or the given one) to the authorization endpoint. */
  async authorize (changes: Changes = {}, browser = this.browser, method = 'GET'): Promise<Arrival> {
    return this.#arrive(new SignIn(this.portal, this.secrets).start(changes), browser, method)
  }

  /** Where a browser ends whose user is not logged in. Asks once. */
  loggedOut (): Promise<Arrival> {
    this.#loggedOut ??= this.authorize({}, this.anonymous)
    return this.#loggedOut
  }

  /** A fresh code. @throws Untested when there is none */
  async code (options: CodeOptions = {}): Promise<Grant> {
    const { grant } = this.settings.material
    delete this.settings.material.grant
    if (grant !== undefined && Object.keys(options).length === 0) return grant
    const { code, verifier, reading } = await this.request(options)
    // A reading without a code is a failure.
    if (code === null) throw new Untested(`there is no code: ${(reading as Failure).got}`)
    return { code, verifier }
  }

  /** An authorization request of the user, and what came of it. */
  async request ({ verifier: given, changes }: CodeOptions = {}): Promise<Requested> {
    const verifier = given ?? (this.portal.pkce ? randomText() : undefined)
    const flow = new SignIn(this.portal, this.secrets, verifier)
    const arrival = await this.#arrive(flow.start(changes))
    const reading = readArrival(arrival, flow.state, this.portal)
    return { arrival, reading, code: codeOf(arrival), verifier }
  }

  /** The token request with a code; `edit` changes the request as a whole. */
  redeem (grant: Grant, changes: Changes = {}, edit?: Edit): Promise<Leg<string>> {
    return redeem(this.portal, this.secrets, grant, changes, edit)
  }

  /** Uses a code and returns its token. @throws Untested when there is none */
  async tokenOf (grant: Grant): Promise<string> {
    const { reading } = await this.redeem(grant)
    if (!reading.ok) throw new Untested(`there is no access token: ${reading.got}`)
    return reading.value
  }

  /** A code that was redeemed. @throws Untested when there is none */
  async redeemed (): Promise<Grant> {
    const { redeemed } = this.settings.material
    delete this.settings.material.redeemed
    if (redeemed !== undefined) return redeemed
    const grant = await this.code()
    await this.tokenOf(grant)
    return grant
  }

  /** A fresh access token. @throws Untested when there is none */
  async accessToken (): Promise<string> {
    const { accessToken } = this.settings.material
    delete this.settings.material.accessToken
    return accessToken ?? this.tokenOf(await this.code())
  }

  /** An access token that was used. @throws Untested when there is none */
  async usedToken (): Promise<string> {
    const { usedToken } = this.settings.material
    delete this.settings.material.usedToken
    if (usedToken !== undefined) return usedToken
    const token = await this.accessToken()
    await this.user(token)
    return token
  }

  /** The user request; `edit` changes it. */
  async user (accessToken: string, edit?: Edit): Promise<Leg<UserInformation>> {
    const leg = await fetchUser(this.portal, this.secrets, accessToken, edit)
    if (leg.reading.ok) this.record = leg.reading.value
    return leg
  }

  async #arrive (url: string, browser = this.browser, method = 'GET'): Promise<Arrival> {
    const arrival = available(await browser.open(url, method))
    this.secrets.add(codeOf(arrival) ?? '')
    return arrival
  }

  /** Makes a missing response, a rate limit and an unavailable service a reason not to judge. */
  async #send ({ send }: Integration, request: Exchange['request']): Promise<Exchange> {
    const exchange = await send({ ...request, headers: [AGENT, ...request.headers] }, this.signal)
    this.settings.onExchange(exchange)
    if (this.signal.aborted) throw new Stop((this.signal.reason as Error).message)
    const { code, sentence } = exchange.networkError ?? {}
    if (code !== undefined) throw new NoResponse(String(sentence), code, fixFor(code))
    const status = statusOf(exchange)
    if (status === 429) throw new Stop(LIMITED)
    if (status >= 502 && status <= 504) throw unavailable(exchange, oauthError(exchange.response) ?? 'unavailable')
    return exchange
  }
}

const LIMITED = 'The service limits the rate of requests (429): raise its limit for the time of the check.'

function unavailable (exchange: Exchange, error: string): Inconclusive {
  const reason = `the service says that it is unavailable for the moment: ${describe(exchange)}`
  return new Inconclusive(reason, fixFor(error))
}

/** The same for an error that the browser carries to the portal. */
function available (arrival: Arrival): Arrival {
  if (arrival.at !== 'callback') return arrival
  const { searchParams } = new URL(arrival.callbackUrl)
  if (searchParams.get('error') !== 'temporarily_unavailable') return arrival
  throw unavailable(arrival.exchange, 'temporarily_unavailable')
}
