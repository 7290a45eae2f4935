import { setTimeout as realTime } from 'node:timers/promises'
import type { Arrival, Browser } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Leg } from '../flow/legs.ts'
import { fetchUser, redeem, SignIn } from '../flow/legs.ts'
import { Secrets } from '../flow/masking.ts'
import type { Changes, IssuedCode } from '../flow/requests.ts'
import type { User } from '../flow/user.ts'
import { browserOf } from '../flow/user.ts'
import type { Exchange, Headers } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'
import { expect, Failed, Untested } from './rule.ts'
import type { Sending } from './sending.ts'
import { sending } from './sending.ts'
import { enter } from './session.ts'
import { becameOf, isGiven, notThePlugin, reasonsOf } from './voice.ts'

/** Results of a browser's own sign-in that a rule uses instead of new ones. */
export interface Material {
  /** A code that nobody has redeemed. */
  grant?: IssuedCode
  /** Where the browser of a user arrived who may not enter. */
  refused?: Arrival
}

export interface SubjectOptions extends Sending, Material {
  /** Users who may enter. Without one, what needs a sign-in is not tested. */
  users: readonly User[]
  /** A user who may not enter. */
  ineligible: User | null
  /** Seconds after which a code has expired; null: not waited for. */
  codeLifetime: number | null
  /** Milliseconds after which a code is redeemed to see that it is still good. */
  codeAge: number
}

/** Requests until it is certain that a session is over: each may reach another process. */
const TRIES = 4
/** Who the users are, the one who may not enter after the others. */
const WHO = ['a user who may enter', 'a second user', 'a user who may not enter']
export const INELIGIBLE = 2
/** The name of a login field whose value is nobody's business. */
export const SECRET_FIELD = /pass|pwd|secret|pin|code|token|otp/i

/** The app under test, as rules see it. What several rules need is asked once. */
export class Subject {
  readonly integration: Integration
  readonly secrets: Secrets
  readonly options: SubjectOptions
  /** Ends the rules. */
  readonly signal: AbortSignal
  /** The exchanges with the endpoints so far. */
  readonly seen: Exchange[] = []
  readonly #kept = new Map<string, Promise<unknown>>()

  constructor (
    integration: Integration,
    options: Partial<SubjectOptions> = {},
    signal = new AbortController().signal
  ) {
    this.options = {
      users: [],
      ineligible: null,
      codeLifetime: null,
      codeAge: 3000,
      secrets: new Secrets(integration),
      wait: (milliseconds, signal) => realTime(milliseconds, undefined, { signal }),
      onExchange: () => {},
      ...options
    }
    const { users, ineligible, secrets } = this.options
    this.secrets = secrets
    this.signal = signal
    this.integration = { ...integration, send: sending(integration, this.options, signal, this.seen) }
    for (const user of [...users, ineligible ?? {}]) this.#hide(user)
  }

  /** Asks once what several rules need. */
  once<Value>(name: string, ask: () => Promise<Value>): Promise<Value> {
    const kept = this.#kept.get(name) ?? ask()
    this.#kept.set(name, kept)
    return kept as Promise<Value>
  }

  /** A browser of nobody, or of a user before the login. */
  browserOf (user: User = {}) {
    return browserOf(this.integration, user)
  }

  /** Sends a browser to the authorization endpoint, and follows redirects. */
  authorize (browser: Browser, changes: Changes = {}) {
    return browser.open(this.authorizeUrl(changes))
  }

  /** The address of an authorization request with a state of its own. */
  authorizeUrl (changes: Changes = {}): string {
    return new SignIn(this.integration, this.secrets).start(changes)
  }

  /** One request of a user's browser to the authorization endpoint; no redirect is followed. */
  ask (user?: User, changes: Changes = {}) {
    return this.browserOf(user).request(this.authorizeUrl(changes))
  }

  /** The same without a browser, for a refusal in JSON. */
  askJson (changes: Changes = {}, more: Headers = []) {
    const headers: Headers = [['Accept', 'application/json'], ...more]
    return this.integration.send({ method: 'GET', url: this.authorizeUrl(changes), headers })
  }

  /** Where a browser ends whose user is not logged in. */
  nobody () {
    return this.once('nobody', () => this.authorize(this.browserOf()))
  }

  /** A user who may enter, after the login. @throws Untested without such a user, or where the session serves once */
  async session () {
    const session = await this.entered()
    if (session.isSpent) throw new Untested('it needs a session that does not end with a sign-in')
    return session
  }

  /** The user of this number, or the one who may not enter, after the login. @throws Untested without this one */
  async entered (at = 0) {
    const { users: [one, other], ineligible } = this.options
    const user = [one, other, ineligible][at]
    if (user == null) throw new Untested(`it needs ${WHO[at]}`)
    return this.once(`session ${at}`, () => enter(this, user))
  }

  /** A code that nobody has redeemed. @throws Failed for the rule that has the cause */
  async code (at = 0) {
    const { grant } = this.options
    if (grant !== undefined) return grant
    const { user, browser, isSpent } = await this.entered(at)
    const { exchange, reading } = isSpent
      ? await this.grant(this.browserOf(user), user.login)
      : await sameEverywhere(() => this.grant(browser))
    if (reading.ok) return reading.value
    // Logins may be limited.
    if (at > 0 || isSpent) throw new Untested(`it needs ${WHO[at]} who gets in each time`)
    throw new Failed(`a user who got a code gets none any more: ${describe(exchange)}`, {
      rule: 'authorize.code',
      exchange
    })
  }

  /** An authorization request of a browser, with a login where that is given, and the code that it got. */
  grant (browser: Browser, login?: User['login']) {
    return new SignIn(this.integration, this.secrets).visit(browser, login)
  }

  /** The token request with a code. */
  redeem (grant: IssuedCode, clientSecret = this.integration.clientSecret) {
    return redeem({ ...this.integration, clientSecret }, this.secrets, grant)
  }

  /** The token of a code. @throws Failed for the rule that has the cause */
  async token (grant: IssuedCode) {
    return judged(() => this.redeem(grant), 'token.response')
  }

  /** A fresh access token. */
  async accessToken (at = 0) {
    return this.token(await this.code(at))
  }

  /** The user request. */
  user (accessToken: string) {
    return fetchUser(this.integration, this.secrets, accessToken)
  }

  /** The record of a token. @throws Failed for the rule that has the cause */
  async record (accessToken: string) {
    return judged(() => this.user(accessToken), 'user.record')
  }

  /** The record of a sign-in. @throws Failed for the rule that has the cause */
  async signIn (at = 0) {
    return this.record(await this.accessToken(at))
  }

  #hide (user: User): void {
    const cookies = this.browserOf(user).jar.all().map(({ value }) => value)
    const words = Object.values(user.headers ?? {}).join(' ').split(' ')
    const fields = Object.entries(user.login ?? {}).map(([name, value]) => SECRET_FIELD.test(name) ? value : '')
    for (const text of [...cookies, ...words, ...fields]) this.secrets.add(text)
  }
}

/** Sends a refused request again, in vain: where it succeeds then, processes differ. */
async function sameEverywhere<Value> (send: () => Promise<Leg<Value>>): Promise<Leg<Value>> {
  const first = await send()
  for (let tries = 1; !first.reading.ok && tries < TRIES; tries++) {
    const { reading } = await send()
    expect(!reading.ok, `the same request gets different responses: ${describe(first.exchange)}, then success`, {
      rule: 'service.one-store'
    })
  }
  return first
}

/** The value of a leg that must succeed. */
async function judged<Value> (send: () => Promise<Leg<Value>>, rule: string): Promise<Value> {
  const { reading, exchange } = await sameEverywhere(send)
  if (reading.ok) return reading.value
  const { got, fix, step } = reading
  if (reasonsOf(exchange).length > 0 || step === 15) {
    throw becameOf(exchange, rule) ?? new Failed(got, { rule, fix, exchange })
  }
  if (statusOf(exchange) !== 200 && !isGiven(exchange)) throw notThePlugin(exchange)
  throw new Failed(`the response was changed on the way: ${got}`, {
    rule,
    fix:
      'The plugin sends application/json with its own members: leave it as it is. Look for an onSend hook, a ' +
      'serializer or envelope of the app, a compressor, or a proxy that changes it.'
  })
}
