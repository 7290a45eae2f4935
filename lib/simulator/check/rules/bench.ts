import { type Answer, readArrival, readToken, readUser } from '../../../testing/answers.ts'
import { type Arrival, Browser, redirectTarget } from '../../../testing/browser.ts'
import { type Cookie, CookieJar } from '../../../testing/cookies.ts'
import { describe, type Failure } from '../../../testing/failure.ts'
import { Secrets } from '../../../testing/masking.ts'
import { authorizeUrl, basicCredentials, type Changes, randomText, tokenRequest, userRequest } from '../../../testing/requests.ts'
import { type Integration } from '../../../testing/settings.ts'
import { type Trouble } from '../../../testing/trouble.ts'
import { type Exchange, type Headers, type WireRequest } from '../../../testing/wire.ts'
import { Untested } from './untested.ts'

/** What makes a user known to the partner's application. */
export interface Login {
  cookies: Cookie[]
  headers: Headers
}

/** Thrown when no answer came. */
export class NoAnswer extends Error {
  readonly trouble: Trouble

  constructor (trouble: Trouble) {
    super(trouble.sentence)
    this.trouble = trouble
  }
}

/** A code and what goes with it. */
export interface Grant {
  code: string
  verifier: string | undefined
}

interface Settings {
  user: Login
  /** A user who may not enter, where one was named. */
  ineligible: Login | null
  /** Seconds after which a code is dead, where they were named. */
  codeLifetime: number | null
}

const NOBODY: Login = { cookies: [], headers: [] }

/** Where rules are tried: a service, a user of it, and the requests of the portal. */
export class Bench {
  readonly portal: Integration
  readonly secrets = new Secrets()
  readonly settings: Settings
  /** The browser of the user: its cookies stay from rule to rule, as in life. */
  readonly browser: Browser
  #loginPage: Promise<Arrival> | null = null

  constructor (portal: Integration, settings: Settings) {
    this.portal = { ...portal, send: answered(portal.send) }
    this.settings = settings
    this.browser = this.browserOf(settings.user)
    this.secrets.add(portal.clientSecret)
    this.secrets.add(basicCredentials(portal.clientId, portal.clientSecret).slice('Basic '.length))
    for (const { value } of settings.user.cookies) this.secrets.add(value)
  }

  browserOf ({ cookies, headers }: Login = NOBODY): Browser {
    return new Browser(this.portal.send, this.portal.redirectUri, new CookieJar(cookies), headers)
  }

  /** Sends the user's browser (or the given one) to the authorization endpoint. */
  authorize (changes: Changes = {}, browser = this.browser, method = 'GET'): Promise<Arrival> {
    return browser.open(authorizeUrl(this.portal, randomText(), this.portal.pkce ? randomText() : undefined, changes), method)
  }

  /** Where a browser ends whose user is not logged in. */
  loginPage (): Promise<Arrival> {
    this.#loginPage ??= this.authorize({}, this.browserOf())
    return this.#loginPage
  }

  /** A fresh code. @throws Untested when none is to be had */
  async code (options: { verifier?: string, changes?: Changes } = {}): Promise<Grant> {
    const state = randomText()
    const verifier = options.verifier ?? (this.portal.pkce ? randomText() : undefined)
    const arrival = await this.browser.open(authorizeUrl(this.portal, state, verifier, options.changes))
    const code = this.codeOf(arrival)
    if (code === null) throw new Untested(`no code was to be had: ${this.got(readArrival(arrival, state, this.portal) as Failure)}`)
    return { code, verifier }
  }

  /** The code that an arrival carries, whatever became of the state; null when there is none. */
  codeOf ({ exchange, url }: Arrival): string | null {
    const target = redirectTarget(exchange, url)
    const code = target === null ? null : new URL(target).searchParams.get('code')
    if (code !== null) this.secrets.add(code)
    return code
  }

  /** The token request with a code; `edit` changes the request as a whole. */
  async redeem ({ code, verifier }: Grant, changes: Changes = {}, edit = (request: WireRequest): WireRequest => request): Promise<Exchange> {
    const exchange = await this.portal.send(edit(tokenRequest(this.portal, code, verifier, changes)))
    const answer = readToken(exchange)
    if (answer.ok) this.secrets.add(answer.value)
    return exchange
  }

  /** A fresh access token. @throws Untested when none is to be had */
  async accessToken (): Promise<string> {
    return this.expect(readToken(await this.redeem(await this.code())), 'no access token was to be had')
  }

  /** The user request; `edit` changes it. */
  user (accessToken: string, edit = (request: WireRequest): WireRequest => request): Promise<Exchange> {
    return this.portal.send(edit(userRequest(this.portal, accessToken)))
  }

  /** Whether the record comes back for a token. */
  async admits (accessToken: string): Promise<boolean> {
    return readUser(await this.user(accessToken), this.portal).ok
  }

  /** Makes sure that a plain sign-in works, where a rule would else blame something particular. @throws Untested */
  async works (): Promise<void> {
    if (!await this.admits(await this.accessToken())) throw new Untested('a plain sign-in does not work')
  }

  /** @throws Untested when the answer is a failure */
  expect<Value> (answer: Answer<Value>, otherwise: string): Value {
    if (!answer.ok) throw new Untested(`${otherwise}: ${this.got(answer)}`)
    return answer.value
  }

  /** What a failure says, without secrets. */
  got (failure: Failure): string {
    return this.secrets.mask(failure.got)
  }

  /** What came, without secrets. */
  told (exchange: Exchange): string {
    return this.secrets.mask(describe(exchange))
  }
}

/** Makes a missing answer an exception, and a rate limit a reason not to test. */
function answered (send: Integration['send']): Integration['send'] {
  return async (request) => {
    const exchange = await send(request)
    if (exchange.trouble !== undefined) throw new NoAnswer(exchange.trouble)
    if (exchange.response?.status === 429) throw new Untested('the service limits the rate of requests (429): raise its limit for the time of the check')
    return exchange
  }
}
