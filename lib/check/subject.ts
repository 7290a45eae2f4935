import { setTimeout } from 'node:timers'
import { setTimeout as realTime } from 'node:timers/promises'
import type { Arrival, Browser } from '../flow/browser.ts'
import { describe, fixFor } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Leg } from '../flow/legs.ts'
import { fetchUser, redeem, SignIn } from '../flow/legs.ts'
import { Secrets } from '../flow/masking.ts'
import type { Changes, IssuedCode } from '../flow/requests.ts'
import { withoutTyped } from '../flow/typed.ts'
import type { User } from '../flow/user.ts'
import { browserOf, textsIn } from '../flow/user.ts'
import type { Exchange, Headers } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'
import type { UserInformation } from '../user-information.ts'
import { Stopped } from './interruptions.ts'
import type { Sending } from './sending.ts'
import { sending, UNUSUAL } from './sending.ts'
import type { Session } from './session.ts'
import { endOf, enter } from './session.ts'
import type { Or, RuleId } from './verdict.ts'
import { Fault, isVerdict, Untested } from './verdict.ts'
import { becameOf, isGiven, isPlugin, notThePlugin } from './voice.ts'

export interface SubjectOptions extends Sending {
  /** Users who may enter. Without one, what needs a sign-in is not tested. */
  users: readonly User[]
  /** A user who may not enter. */
  ineligible: User | null
  /** Sent by each browser, that of nobody included: what a gateway in front wants of everybody. */
  headers: Readonly<Record<string, string>>
  /** Where the browser of a user arrived who may not enter: a rule uses it instead of a login. */
  refused?: Arrival
  /** The app is called in-process: pages that another server has may be missing. */
  isInProcess: boolean
  /** Milliseconds of the whole run. */
  longest: number
}

/** Two minutes. */
const LONGEST_RUN = 120_000
/** Requests until it is certain that a session is over: each may reach another process. */
const TRIES = 4
/** Who the users are, the one who may not enter after the others, and how they are given. */
const WHO = [
  'a user who may enter (--login or --cookie)',
  'a second user who may enter (a second --login or --cookie)',
  'a user who may not enter (--ineligible-login or --ineligible-cookie)'
]
export const INELIGIBLE = 2

/** The app under test, as rules see it. What several rules need is asked once. */
export class Subject {
  readonly integration: Integration
  readonly secrets: Secrets
  readonly options: SubjectOptions
  /** Ends the rules. */
  readonly signal: AbortSignal
  /** Rejects when the signal is aborted. */
  readonly aborted: Promise<never>
  /** The exchanges with the endpoints so far. */
  readonly seen: Exchange[] = []
  /** What was typed into logins, and what is given to be typed. */
  readonly #typed = new Set<string>()
  readonly #kept = new Map<string, Promise<unknown>>()

  constructor (
    integration: Integration,
    options: Partial<SubjectOptions> = {},
    signal = new AbortController().signal
  ) {
    this.options = {
      users: [],
      headers: {},
      ineligible: null,
      isInProcess: false,
      longest: LONGEST_RUN,
      secrets: new Secrets(integration),
      wait: (milliseconds, signal) => realTime(milliseconds, undefined, { signal }),
      onExchange: () => {},
      ...options
    }
    const { users, ineligible, headers, secrets, longest } = this.options
    this.secrets = secrets
    this.signal = AbortSignal.any([signal, timeout(longest)])
    this.aborted = rejection(this.signal)
    this.integration = { ...integration, send: sending(integration, this.options, this.signal, this.seen) }
    for (const user of [...users, ineligible ?? {}, { headers }]) this.#hide(user)
  }

  /** Asks once what several rules need. */
  once<Value>(name: string, ask: () => Promise<Value>): Promise<Value> {
    const kept = this.#kept.get(name) as Promise<Value> | undefined
    if (kept !== undefined) return kept
    const asked = ask()
    this.#kept.set(name, asked)
    // What got no response is asked again.
    asked.catch(() => this.#kept.delete(name))
    return asked
  }

  /** A text without secrets, and without what was typed into a login. */
  mask (text: string): string {
    return withoutTyped(this.secrets.mask(text), this.#typed)
  }

  /** A browser of nobody, or of a user before the login. */
  browserOf (user: User = {}) {
    const headers = { ...this.options.headers, ...user.headers }
    return browserOf(this.integration, { ...user, headers }, this.#typed)
  }

  /** Sends a browser to the authorization endpoint, and follows redirects. */
  authorize (browser: Browser, changes: Changes = {}) {
    return browser.open(this.authorizeUrl(changes))
  }

  /** The address of an authorization request with a state of its own. */
  authorizeUrl (changes: Changes = {}): string {
    return new SignIn(this.integration, this.secrets).start(changes)
  }

  /** The same without a browser, for a refusal in JSON. */
  askJson (changes: Changes = {}, more: Headers = []) {
    const headers: Headers = [['Accept', 'application/json'], ...Object.entries(this.options.headers), ...more]
    return this.integration.send({ method: 'GET', url: this.authorizeUrl(changes), headers })
  }

  /** Where a browser ends whose user is not logged in. */
  nobody () {
    return this.once('nobody', () => this.authorize(this.browserOf()))
  }

  /** Whether a browser ended where that of nobody ends: at the login. */
  async isAtLogin (arrival: Arrival) {
    return endOf(arrival) === endOf(await this.nobody())
  }

  /** The login page of the app; untested where it has none of its own. */
  async loginPage (): Promise<Or<Arrival>> {
    const arrival = await this.nobody()
    const isPage = arrival.at === 'page' && statusOf(arrival.exchange) < 400
    return isPage ? arrival : new Untested('the app has no login page of its own')
  }

  /** A user who may enter, after the login; untested where the session serves once. */
  async session (): Promise<Or<Session>> {
    const session = await this.entered()
    if (isVerdict(session)) return session
    return session.isSpent ? new Untested('it needs a session that does not end with a sign-in') : session
  }

  /** The user of this number, or the one who may not enter, after the login; untested without this one. */
  async entered (at = 0): Promise<Session | Untested> {
    const { users: [one, other], ineligible } = this.options
    const user = [one, other, ineligible][at]
    if (user == null) return new Untested(`it needs ${WHO[at]}`)
    return this.once(`session ${at}`, () => enter(this, user))
  }

  /** A code that nobody has redeemed. */
  async code (at = 0): Promise<Or<IssuedCode>> {
    const session = await this.entered(at)
    if (isVerdict(session)) return session
    const { user, browser, isSpent } = session
    const leg = isSpent
      ? await this.grant(this.browserOf(user), user.login)
      : await sameEverywhere(() => this.grant(browser))
    if (isVerdict(leg)) return leg
    const { exchange, reading } = leg
    if (reading.ok) return reading.value
    // Logins may be limited.
    if (at > 0 || isSpent) return new Untested(`it needs ${WHO[at]} who gets in each time`)
    return new Fault(`a user who got a code gets none any more: ${describe(exchange)}`, {
      rule: 'authorize.code',
      exchange
    })
  }

  /** An authorization request of a browser, with a login where that is given, and the code that it got. */
  grant (browser: Browser, login?: User['login']) {
    return new SignIn(this.integration, this.secrets).visit(browser, login)
  }

  /** The token request with a code. */
  redeem (grant: IssuedCode) {
    return redeem(this.integration, this.secrets, grant)
  }

  /** The token request with a code that the app did not issue. */
  redeemUnknown () {
    return this.once('unknown code', () => this.redeem({ code: 'c'.repeat(43) }))
  }

  /** The token of a code. */
  async token (grant: IssuedCode): Promise<Or<string>> {
    return judged(() => this.redeem(grant), 'token.response')
  }

  /** The user request. */
  user (accessToken: string) {
    return fetchUser(this.integration, this.secrets, accessToken)
  }

  /** The user request with a token that the app did not issue. */
  userUnknown () {
    return this.once('unknown token', () => this.user('t'.repeat(43)))
  }

  /** The record of a token. */
  async record (accessToken: string): Promise<Or<UserInformation>> {
    return judged(() => this.user(accessToken), 'user.record')
  }

  /** The record of a code. */
  async complete (grant: Or<IssuedCode>): Promise<Or<UserInformation>> {
    if (isVerdict(grant)) return grant
    const token = await this.token(grant)
    return isVerdict(token) ? token : this.record(token)
  }

  #hide (user: User): void {
    const cookies = this.browserOf(user).jar.all().map(({ value }) => value)
    const words = Object.values(user.headers ?? {}).join(' ').split(' ')
    for (const text of [...cookies, ...words]) this.secrets.add(text)
    for (const text of textsIn(user.login)) this.#typed.add(text)
  }
}

/** Ends a run. */
function timeout (milliseconds: number): AbortSignal {
  const controller = new AbortController()
  const minutes = milliseconds / 60_000
  const reason = new Stopped(`The check ended after ${minutes} minutes. ${UNUSUAL}`)
  setTimeout(() => controller.abort(reason), milliseconds).unref()
  return controller.signal
}

/** Rejects when the signal is aborted. Nobody may be waiting for it then. */
function rejection (signal: AbortSignal): Promise<never> {
  const promise = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  promise.catch(() => {})
  return promise
}

/** The errors of a service that fails now and then. */
const FAILING = ['temporarily_unavailable', 'server_error', 'unavailable']

/** Sends a refused request again, in vain: where another response comes then, processes differ, or the store fails. */
async function sameEverywhere<Value> (send: () => Promise<Leg<Value>>): Promise<Leg<Value> | Fault> {
  const first = await send()
  for (let tries = 1; !first.reading.ok && tries < TRIES; tries++) {
    const { reading, exchange } = await send()
    const { error } = first.reading
    // A response that was changed on the way is not a refusal: the request has been served.
    const isServed = statusOf(first.exchange) < 400 || FAILING.includes(error)
    if (!reading.ok && (isServed || reading.error === error)) continue
    const other = reading.ok ? 'success' : describe(exchange)
    return new Fault(`the same request gets different responses: ${describe(first.exchange)}, then ${other}`, {
      rule: 'service.one-store',
      exchange: first.exchange,
      ...FAILING.includes(error) && { fix: `The app fails now and then. ${fixFor(error)}` }
    })
  }
  return first
}

/** The value of a leg that must succeed. */
async function judged<Value> (send: () => Promise<Leg<Value>>, rule: RuleId): Promise<Or<Value>> {
  const leg = await sameEverywhere(send)
  if (isVerdict(leg)) return leg
  const { reading, exchange } = leg
  if (reading.ok) return reading.value
  const { got, fix, step } = reading
  if ((statusOf(exchange) !== 200 && isPlugin(exchange)) || step === 15) {
    return becameOf(exchange, rule) ?? new Fault(got, { rule, fix, exchange })
  }
  if (statusOf(exchange) !== 200 && !isGiven(exchange)) return notThePlugin(exchange)
  return new Fault(`the response was changed on the way: ${got}`, {
    rule,
    fix:
      'The plugin sends application/json with its own members: leave it as it is. Look for an onSend hook, a ' +
      'serializer or envelope of the app, a compressor, or a proxy that changes it.'
  })
}
