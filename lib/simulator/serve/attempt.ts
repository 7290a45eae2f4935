import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { redirectTarget } from '../../testing/browser.ts'
import type { Failure } from '../../testing/failure.ts'
import type { Grant } from '../../testing/legs.ts'
import { SignIn } from '../../testing/legs.ts'
import { readArrival } from '../../testing/responses.ts'
import type { Integration } from '../../testing/settings.ts'
import type { Leg } from '../../testing/steps.ts'
import type { Exchange, WireResponse } from '../../testing/wire.ts'
import { header, statusOf } from '../../testing/wire.ts'
import type { Finding } from '../rules/run-rules.ts'
import { runRule } from '../rules/run-rules.ts'
import type { Material } from '../rules/service.ts'
import { Service } from '../rules/service.ts'
import { LOGIN_RULES } from './trials.ts'
import type { Trial } from './trials.ts'

export interface AttemptOptions {
  portal: Integration
  trial: Trial | null
  /** Seconds that a code is valid at the service. */
  codeLifetime: number
  /** Monotonic time in milliseconds. */
  clock: () => number
  /** Ends the waiting when the simulator stops. */
  stop: AbortSignal
}

/** A browser that is away for longer may be stuck, in milliseconds. */
const LONG = 5000

/** One sign-in, or one trial, through a real browser. The simulator makes the portal's own requests. */
export class Attempt {
  /** Names the attempt in URLs. Cannot be guessed. */
  readonly id = randomBytes(12).toString('base64url')
  readonly startedAt = new Date()
  readonly trial: Trial | null
  readonly signIn: SignIn
  /** Of the trial's rules: what came of each, and what was sent, secrets not hidden. */
  readonly findings: Finding[] = []
  readonly exchanges: Exchange[] = []
  /** Whether the browser came back from the service. */
  cameBack = false
  /** Whether nothing more will happen. */
  ended = false
  /** Where a browser that is not logged in has to log in; null where the service sends it to no page of its own. */
  loginPage: string | null = null
  readonly #options: AttemptOptions
  #leftAt: number | null = null
  #codeExpiresAt: number | null = null
  #login: Promise<Finding[]> | null = null

  constructor (options: AttemptOptions) {
    this.#options = options
    this.trial = options.trial
    this.signIn = new SignIn(options.portal)
  }

  /** Whether the browser is at the service. */
  get isAway (): boolean {
    return !this.cameBack && this.#leftAt !== null
  }

  /** Whether it has been there so long that it may not come back. */
  get isStuck (): boolean {
    return this.isAway && this.#options.clock() - Number(this.#leftAt) >= LONG
  }

  /** Whole seconds until the code has expired; null when the attempt does not wait for that. */
  get secondsLeft (): number | null {
    if (this.#codeExpiresAt === null) return null
    return Math.max(0, Math.ceil((this.#codeExpiresAt - this.#options.clock()) / 1000))
  }

  /** The page of its own with which the service ended the attempt; null when it sent none. */
  get servicePage (): WireResponse | null {
    const { authorize, redeem, fetch } = this.signIn.legs
    const failed = [authorize, redeem, fetch].find((leg) => leg?.reading.ok === false)
    const { response } = failed?.exchange ?? this.exchanges.at(-1) ?? {}
    return response !== undefined && /^text\/html\b/i.test(header(response, 'content-type')) ? response : null
  }

  /**
   * Steps 1 to 4. Asks first whether the service responds, so that no browser is sent to an address that does not.
   *
   * @param toLogin - whether the user wants to log in first, as somebody else
   * @returns where the browser has to go, or null when the attempt has ended
   */
  async begin (toLogin: boolean): Promise<string | null> {
    const url = this.trial?.takes === 'nothing' ? await this.#run({}) : await this.#send()
    this.ended = url === null
    return toLogin && url !== null ? this.loginPage ?? url : url
  }

  /** Steps 5 to 15, from the URL under which the browser came back. */
  async finish (callbackUrl: string): Promise<void> {
    this.cameBack = true
    const code = this.signIn.returned(callbackUrl)
    const exchange = (this.signIn.legs.authorize as Leg<string>).exchange
    const url = this.signIn.portal.authorizeUrl
    if (code.ok) await this.#withCode({ code: code.value, verifier: this.signIn.verifier })
    else if (this.trial?.takes === 'refusal') await this.#run({ ineligible: { at: 'callback', callbackUrl, exchange, url } })
    this.ended = true
  }

  /** What a browser without a user meets at the service: rules on the login. Asks once. */
  loginFindings (): Promise<Finding[]> {
    const { portal, stop } = this.#options
    const service = new Service(portal, {}, stop)
    this.#login ??= Promise.all(LOGIN_RULES.map((rule) => runRule(service, rule)))
    return this.#login
  }

  async #send (): Promise<string | null> {
    const { portal, clock } = this.#options
    const url = this.signIn.start()
    const exchange = await this.signIn.portal.send({ method: 'GET', url, headers: [['Accept', 'text/html']] })
    const absent = this.#absent(url, exchange)
    if (absent !== null) {
      this.signIn.failed(absent, exchange)
      return null
    }
    const target = redirectTarget(exchange, url)
    if (target !== null && new URL(target).origin === portal.base.origin) this.loginPage = target
    this.#leftAt = clock()
    return url
  }

  /** Why the browser is not sent to the service; null when it is. That somebody has to log in is no reason. */
  #absent (url: string, exchange: Exchange): Failure | null {
    const status = statusOf(exchange)
    if (exchange.networkError === undefined && (status < 400 || status === 401 || status === 403)) return null
    const at = exchange.networkError === undefined ? 'page' : 'nowhere'
    const reading = readArrival({ at, exchange, url }, this.signIn.state, this.signIn.portal)
    return reading.ok ? null : reading
  }

  async #withCode (grant: Grant): Promise<void> {
    if (this.trial?.takes === 'code') {
      await this.#run({ grant })
      return
    }
    const token = await this.signIn.redeem(grant.code)
    const record = token.ok ? await this.signIn.fetchUser(token.value) : token
    if (record.ok && this.trial?.takes === 'sign-in') await this.#run({ redeemed: grant })
  }

  /** Tries the trial's rules, each with the same material, until one does not pass. */
  async #run (material: Material): Promise<null> {
    const { portal, codeLifetime, stop } = this.#options
    for (const rule of this.trial?.rules ?? []) {
      const service = new Service(portal, {
        codeLifetime,
        material: { ...material },
        secrets: this.signIn.secrets,
        wait: (milliseconds, signal) => this.#countDown(milliseconds, signal),
        onExchange: (exchange) => this.exchanges.push(exchange)
      }, stop)
      const finding = await runRule(service, rule)
      this.findings.push(finding)
      if (finding.result.outcome !== 'pass') break
    }
    return null
  }

  async #countDown (milliseconds: number, signal: AbortSignal): Promise<void> {
    this.#codeExpiresAt = this.#options.clock() + milliseconds
    await wait(milliseconds, undefined, { signal }).finally(() => { this.#codeExpiresAt = null })
  }
}
