import { setTimeout as realTime } from 'node:timers/promises'
import type { Arrival, Browser } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Leg } from '../flow/legs.ts'
import { fetchUser, redeem, SignIn } from '../flow/legs.ts'
import { Secrets } from '../flow/masking.ts'
import type { Changes, Grant } from '../flow/requests.ts'
import type { Fields, User } from '../flow/user.ts'
import { browserOf, logIn } from '../flow/user.ts'
import type { Exchange, WireRequest } from '../flow/wire.ts'
import { header, statusOf } from '../flow/wire.ts'
import type { UserInformation } from '../user-information.ts'
import { expect, Failed, Untested } from './rule.ts'
import type { Sending } from './sending.ts'
import { sending } from './sending.ts'
import type { Session } from './session.ts'
import { enter } from './session.ts'
import { becameOf, notThePlugin, reasonsOf } from './voice.ts'

/** Results of a browser's own sign-in that a rule uses instead of new ones. */
export interface Material {
  /** A code that nobody has redeemed. */
  grant?: Grant
  /** A code that was redeemed. */
  redeemed?: Grant
  /** Where the browser of a user arrived who may not enter. */
  ineligible?: Arrival
}

export interface SubjectOptions extends Sending {
  /** Users who may enter. Without one, what needs a sign-in is not tested. */
  users: readonly User[]
  /** A user who may not enter. */
  ineligible: User | null
  /** Seconds after which a code has expired; null: not waited for. */
  codeLifetime: number | null
  /** Milliseconds after which a code is redeemed to see that it is still good. */
  codeAge: number
  material: Material
  secrets: Secrets
}

/** Requests until it is certain that a session is over: each may reach another process. */
const TRIES = 4
export const SHARED =
  'Let all processes share one store of codes and tokens (the option redis or store), one of ' +
  'sessions, and one configuration.'

/** The app under test, as rules see it. What several rules need is asked once. */
export class Subject {
  readonly integration: Integration
  readonly secrets: Secrets
  readonly options: SubjectOptions
  /** Ends the rules. */
  readonly signal: AbortSignal
  /** The exchanges with the endpoints so far, without those with a long body. */
  readonly seen: Exchange[] = []
  /** The right one and a character more. */
  readonly wrongSecret: string
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
      material: {},
      secrets: new Secrets(integration),
      wait: (milliseconds, signal) => realTime(milliseconds, undefined, { signal }),
      onExchange: () => {},
      ...options
    }
    this.signal = signal
    this.wrongSecret = `${integration.clientSecret}x`
    this.options.secrets.add(this.wrongSecret)
    this.secrets = this.options.secrets
    this.integration = { ...integration, send: sending(integration, this.options, signal, this.seen) }
    for (const user of [...this.options.users, this.options.ineligible ?? {}]) this.#hide(user)
  }

  /** Asks once what several rules need. */
  once<Value>(name: string, ask: () => Promise<Value>): Promise<Value> {
    const kept = this.#kept.get(name) as Promise<Value> | undefined
    if (kept !== undefined) return kept
    const asked = ask()
    this.#kept.set(name, asked)
    return asked
  }

  /** A browser of nobody, or of a user before the login. */
  browserOf (user: User = {}): Browser {
    return browserOf(this.integration, user)
  }

  /** Sends a browser to the authorization endpoint, and follows redirects. */
  async authorize (browser: Browser, changes: Changes = {}): Promise<Arrival> {
    return this.#arrived(await browser.open(this.authorizeUrl(changes)))
  }

  /** The address of an authorization request with a state of its own. */
  authorizeUrl (changes: Changes = {}): string {
    return new SignIn(this.integration, this.secrets).start(changes)
  }

  /** One request to the authorization endpoint; no redirect is followed. */
  async ask (browser: Browser, changes: Changes = {}): Promise<Exchange> {
    return browser.request(this.authorizeUrl(changes), 'GET')
  }

  /** The same without a browser, for a refusal in JSON. */
  askJson (changes: Changes = {}, headers: WireRequest['headers'] = []): Promise<Exchange> {
    const accept = ['Accept', 'application/json'] as const
    return this.integration.send({
      method: 'GET',
      url: this.authorizeUrl(changes),
      headers: [accept, ...headers]
    })
  }

  /** Where a browser ends whose user is not logged in. */
  nobody (): Promise<{ browser: Browser; arrival: Arrival }> {
    return this.once('nobody', async () => {
      const browser = this.browserOf()
      return { browser, arrival: await this.authorize(browser) }
    })
  }

  /** A user who may enter, after the login. @throws Untested without such a user, or where the session serves once */
  async session (at = 0): Promise<Session> {
    const session = await this.#entered(at)
    if (session.isSpent) throw new Untested('it needs a session that does not end with a sign-in')
    return session
  }

  async #entered (at: number): Promise<Session> {
    const user = this.options.users[at]
    if (user === undefined) throw new Untested('it needs a user who may enter')
    return this.once(`session ${at}`, () => enter(this, user))
  }

  /** A user who may not enter, after the login. @throws Untested without such a user */
  async ineligible (): Promise<Session> {
    const user = this.options.ineligible
    if (user === null) throw new Untested('it needs a user who may not enter')
    return this.once('ineligible', () => enter(this, user))
  }

  /** A code that nobody has redeemed. @throws Failed for the rule that has the cause */
  async code (at = 0): Promise<Grant> {
    const { grant } = this.options.material
    if (grant !== undefined) return grant
    const ask = async (): Promise<Granted> => {
      const { user, browser, isSpent } = await this.#entered(at)
      return isSpent ? this.grant(this.browserOf(user), user.login) : this.grant(browser)
    }
    const first = await sameEverywhere(ask)
    if (first.reading.ok) return first.reading.value
    // Another login of the same user may have ended this session.
    this.#kept.delete(`session ${at}`)
    const { exchange, reading } = await ask()
    if (reading.ok) return reading.value
    if (at > 0) throw new Untested('it needs a second user who gets in')
    throw new Failed(`a user who got a code gets none any more: ${describe(exchange)}`, {
      rule: 'authorize.code',
      reasons: reasonsOf(exchange)
    })
  }

  /** An authorization request of a browser, with its login where it has one, and the code that it got. */
  async grant (browser: Browser, login?: User['login']): Promise<Granted> {
    const flow = new SignIn(this.integration, this.secrets)
    const page = await browser.open(flow.start())
    const steps = page.at === 'page' && login !== undefined ? await logIn(browser, page, login) : [page]
    const back = steps.find((step) => codeOf(step) !== null || step === page)
    const arrival = this.#arrived(back ?? (await browser.open(flow.start())))
    const { exchange } = arrival
    const code = codeOf(arrival)
    if (code === null) return { exchange, reading: { ok: false } }
    return { exchange, reading: { ok: true, value: { code, verifier: flow.verifier } } }
  }

  /** The token request with a code. */
  redeem (grant: Grant, clientSecret = this.integration.clientSecret): Promise<Leg<string>> {
    return redeem({ ...this.integration, clientSecret }, this.secrets, grant)
  }

  /** The token of a code. @throws Failed for the rule that has the cause */
  async token (grant: Grant): Promise<string> {
    return judged(await sameEverywhere(() => this.redeem(grant)), 'token', 'token.response')
  }

  /** A fresh access token. */
  async accessToken (at = 0): Promise<string> {
    return this.token(await this.code(at))
  }

  /** The user request, with a query that the plugin ignores. */
  user (accessToken: string, query = ''): Promise<Leg<UserInformation>> {
    const { userUrl } = this.integration
    return fetchUser({ ...this.integration, userUrl: `${userUrl}${query}` }, this.secrets, accessToken)
  }

  /** The record of a token. @throws Failed for the rule that has the cause */
  async record (accessToken: string): Promise<UserInformation> {
    const leg = await sameEverywhere(() => this.user(accessToken))
    if (!leg.reading.ok) await this.expectUncached(accessToken, 'a refusal')
    return judged(leg, 'user', 'user.record')
  }

  /** A user request got this: the same at an address that nobody has asked before, which no cache knows. */
  async expectUncached (accessToken: string, got: 'a refusal' | 'the record'): Promise<void> {
    const { reading } = await this.user(accessToken, `?not-cached=${crypto.randomUUID()}`)
    const other = reading.ok ? 'the record' : 'a refusal'
    expect(other === got, `${got}, and ${other} at an address that was not asked before`, { rule: 'service.no-cache' })
  }

  /** The record of a sign-in. @throws Failed for the rule that has the cause */
  async signIn (at = 0): Promise<UserInformation> {
    return this.record(await this.accessToken(at))
  }

  /** The record of the first sign-in of a user who may enter. */
  recordOf (at = 0): Promise<UserInformation> {
    return this.once(`record ${at}`, () => this.signIn(at))
  }

  #arrived (arrival: Arrival): Arrival {
    this.secrets.add(codeOf(arrival) ?? '')
    return arrival
  }

  #hide (user: User): void {
    const { headers = {}, login = {} } = user
    const cookies = this.browserOf(user).jar.all()
    const words = Object.values(headers).flatMap((value) => [value, ...value.split(' ')])
    const fields = Object.entries(login as Fields).filter(([name]) => /pass|secret|pin|code/i.test(name))
    for (const text of [...cookies.map(({ value }) => value), ...words, ...fields.map(([, value]) => value)]) {
      this.secrets.add(text)
    }
  }
}

interface Granted {
  exchange: Exchange
  reading: { ok: true; value: Grant } | { ok: false }
}

/** Sends a refused request again, in vain: where it succeeds then, processes differ. */
async function sameEverywhere<Result extends { exchange: Exchange; reading: { ok: boolean } }> (
  send: () => Promise<Result>
): Promise<Result> {
  const first = await send()
  for (let tries = 1; !first.reading.ok && tries < TRIES; tries++) {
    const { reading } = await send()
    expect(!reading.ok, `the same request gets different responses: ${describe(first.exchange)}, then success`, {
      rule: 'service.one-store',
      fix: SHARED
    })
  }
  return first
}

/** The value of a leg that must succeed. */
function judged<Value> ({ reading, exchange }: Leg<Value>, endpoint: 'token' | 'user', rule: string): Value {
  if (reading.ok) return reading.value
  const reasons = reasonsOf(exchange)
  if (reasons.length > 0) {
    throw becameOf(exchange, rule) ?? new Failed(reading.got, { rule, fix: reading.fix, reasons })
  }
  if (reading.step === 15) throw new Failed(reading.got, { rule, fix: reading.fix })
  const isOwn = /"(?:access_token|external_id)"/.test(String(exchange.response?.body))
  if (statusOf(exchange) !== 200 && !isOwn) throw notThePlugin(exchange, endpoint)
  const encoding = header(exchange.response, 'content-encoding')
  const got = encoding === '' ? reading.got : `Content-Encoding: ${encoding}, which nobody asked for`
  throw new Failed(`the response was changed on the way: ${got}`, { rule, fix: LEAVE })
}

const LEAVE =
  'The plugin sends application/json with its own members: leave it as it is. Look for an onSend hook, a ' +
  'serializer or envelope of the app, a compressor, or a proxy that changes it.'
