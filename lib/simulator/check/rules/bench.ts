import { type Answer, readArrival } from '../../../testing/answers.ts'
import { type Arrival, Browser, redirectTarget } from '../../../testing/browser.ts'
import { type Cookie, CookieJar } from '../../../testing/cookies.ts'
import { describe, type Failure } from '../../../testing/failure.ts'
import { type Call, type Edit, fetchUser, type Grant, redeem } from '../../../testing/flow.ts'
import { Secrets } from '../../../testing/masking.ts'
import { type Changes, randomText } from '../../../testing/requests.ts'
import { type Integration } from '../../../testing/settings.ts'
import { SignIn } from '../../../testing/sign-in.ts'
import { type Trouble } from '../../../testing/trouble.ts'
import { type Exchange, type Headers } from '../../../testing/wire.ts'
import { type UserInformation } from '../../../user-information.ts'
import type { Wait } from '../../process.ts'
import { Inconclusive, Untested } from './untested.ts'

/** What identifies a user to the partner's application. */
export interface Login {
  cookies: Cookie[]
  headers: Headers
}

/** Thrown when there is no response. */
export class NoAnswer extends Inconclusive {
  readonly trouble: Trouble

  constructor (trouble: Trouble) {
    super(trouble.sentence.replace(/\.$/, ''))
    this.trouble = trouble
  }
}

export interface Settings {
  user: Login
  /** A user who may not enter, where one was named. */
  ineligible: Login | null
  /** Seconds after which a code has expired, where they were named. */
  codeLifetime: number | null
  /** Lets time pass. */
  wait: Wait
  /** Whether the login command showed that the login answers with a redirect. */
  loginRedirects: boolean
}

/** A sign-in from beginning to end; a leg is an error where it could not be tried. */
export interface Walk {
  arrival: Arrival
  answer: Answer<string>
  /** The code that the arrival carries, also where its state is wrong. */
  code: string | null
  token: Call<string> | Error
  user: Call<UserInformation> | Error
}

const NOBODY: Login = { cookies: [], headers: [] }
/** Errors that a code or a token gets which expired on the way. */
const EXPIRED = ['invalid_grant', 'invalid_token']
/** Milliseconds in which a sign-in is too quick for its code to expire. */
const QUICK = 1000

/** Where rules are tried: a service, a user of it, and the requests of the portal. */
export class Bench {
  readonly portal: Integration
  readonly secrets = new Secrets()
  readonly settings: Settings
  /** Ends the check: at its deadline, or when the user interrupts it. */
  readonly signal: AbortSignal
  /** The browser of the user. Its cookies stay from rule to rule, as those of a real browser do. */
  readonly browser: Browser
  /** A browser whose user is not logged in. */
  readonly anonymous: Browser
  #loginPage: Promise<Arrival> | null = null
  #first: Promise<Walk> | null = null

  constructor (portal: Integration, settings: Settings, signal: AbortSignal) {
    this.portal = { ...portal, send: answered(portal.send, signal) }
    this.settings = settings
    this.signal = signal
    this.browser = this.browserOf(settings.user)
    this.anonymous = this.browserOf()
    for (const { cookies, headers } of [settings.user, settings.ineligible ?? NOBODY]) {
      for (const { value } of cookies) this.secrets.add(value)
      for (const [, value] of headers) for (const text of [value, ...value.split(' ')]) this.secrets.add(text)
    }
    // Adds the secrets of the integration.
    this.begin()
  }

  browserOf ({ cookies, headers }: Login = NOBODY): Browser {
    return new Browser(this.portal, new CookieJar(cookies), headers)
  }

  begin (verifier?: string): SignIn {
    return new SignIn(this.portal, this.secrets, verifier)
  }

  /** Sends the user's browser (or the given one) to the authorization endpoint. */
  async authorize (changes: Changes = {}, browser = this.browser, method = 'GET'): Promise<Arrival> {
    return available(await browser.open(this.begin().start(changes), method))
  }

  /** Where a browser ends whose user is not logged in. */
  loginPage (): Promise<Arrival> {
    this.#loginPage ??= this.authorize({}, this.anonymous)
    return this.#loginPage
  }

  /** The sign-in that comes before all rules that need one. */
  first (): Promise<Walk> {
    this.#first ??= this.#walk(3)
    return this.#first
  }

  /** Tries again where a failure may be due to a code that expired on a slow machine. */
  async #walk (rounds: number): Promise<Walk> {
    const start = performance.now()
    const flow = this.begin()
    const arrival = available(await this.browser.open(flow.start()))
    const answer = flow.arrived(arrival)
    const code = this.codeOf(arrival)
    const token = await leg(async () => {
      if (code === null) throw new Untested('there is no code')
      return redeem(this.portal, this.secrets, { code, verifier: flow.verifier })
    })
    const user = await leg(async () => fetchUser(this.portal, this.secrets, valueOf(token)))
    const refused = [token, user].some((call) =>
      !(call instanceof Error) && !call.answer.ok && EXPIRED.includes(call.answer.error))
    if (!refused || performance.now() - start < QUICK) return { arrival, answer, code, token, user }
    if (rounds === 1) throw new Inconclusive('the service is so slow that a code may expire before it is used')
    return this.#walk(rounds - 1)
  }

  /** A fresh code. @throws Untested when there is none */
  async code (options: { verifier?: string, changes?: Changes } = {}): Promise<Grant> {
    const flow = this.begin(options.verifier ?? (this.portal.pkce ? randomText() : undefined))
    const arrival = available(await this.browser.open(flow.start(options.changes)))
    const code = this.codeOf(arrival)
    if (code !== null) return { code, verifier: flow.verifier }
    throw new Untested(`there is no code: ${this.got(readArrival(arrival, flow.state, this.portal) as Failure)}`)
  }

  /** The code that an arrival carries, whatever its state; null when there is none. */
  codeOf ({ exchange, url }: Arrival): string | null {
    const target = redirectTarget(exchange, url)
    const code = target === null ? null : new URL(target).searchParams.get('code')
    if (code !== null) this.secrets.add(code)
    return code
  }

  /** The token request with a code; `edit` changes the request as a whole. */
  async redeem (grant: Grant, changes: Changes = {}, edit?: Edit): Promise<Exchange> {
    return (await redeem(this.portal, this.secrets, grant, changes, edit)).exchange
  }

  /** Uses a code and returns its token. @throws Untested when there is none */
  async used (grant: Grant): Promise<string> {
    const { answer } = await redeem(this.portal, this.secrets, grant)
    return this.expect(answer, 'there is no access token')
  }

  /** A fresh access token. @throws Untested when there is none */
  async accessToken (): Promise<string> {
    return this.used(await this.code())
  }

  /** The user request; `edit` changes it. */
  async user (accessToken: string, edit?: Edit): Promise<Exchange> {
    return (await fetchUser(this.portal, this.secrets, accessToken, edit)).exchange
  }

  /** Whether the record is returned for a token. */
  async admits (accessToken: string): Promise<boolean> {
    return (await fetchUser(this.portal, this.secrets, accessToken)).answer.ok
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

  /** A description of the response, without secrets. */
  told (exchange: Exchange): string {
    return this.secrets.mask(describe(exchange))
  }
}

/** A leg of the first sign-in; an error is kept for the rule that looks at the leg. */
async function leg<Value> (call: () => Promise<Call<Value>>): Promise<Call<Value> | Error> {
  return call().catch((error: Error) => error)
}

function valueOf (call: Call<string> | Error): string {
  if (call instanceof Error || !call.answer.ok) throw new Untested('there is no access token')
  return call.answer.value
}

const LIMITED = 'the service limits the rate of requests (429): raise its limit for the time of the check'
const UNAVAILABLE = 'the service says that it is unavailable for the moment'

/** Makes a missing answer, a rate limit and an unavailable service a reason not to judge. */
function answered (send: Integration['send'], signal: AbortSignal): Integration['send'] {
  return async (request) => {
    const exchange = await send(request, signal)
    if (exchange.trouble !== undefined) throw new NoAnswer(exchange.trouble)
    if (exchange.response?.status === 429) throw new Inconclusive(LIMITED)
    if (exchange.response?.status === 503) throw new Inconclusive(`${UNAVAILABLE}: ${describe(exchange)}`)
    return exchange
  }
}

/** The same for an error that the browser carries to the portal. */
function available (arrival: Arrival): Arrival {
  if (arrival.at !== 'callback') return arrival
  const { searchParams } = new URL(arrival.callbackUrl)
  if (searchParams.get('error') !== 'temporarily_unavailable') return arrival
  throw new Inconclusive(`${UNAVAILABLE}: ${describe(arrival.exchange)}`)
}
