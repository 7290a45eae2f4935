import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { readToken } from '../../testing/answers.ts'
import { redirectTarget } from '../../testing/browser.ts'
import { describe, failure, type Failure, fixFor } from '../../testing/failure.ts'
import { tokenRequest } from '../../testing/requests.ts'
import { type Integration } from '../../testing/settings.ts'
import { SignIn } from '../../testing/sign-in.ts'
import { type Exchange, statusOf } from '../../testing/wire.ts'
import { type Conclusion, ended, letThrough, refusedAt, type Trial } from './trials.ts'

/** A request that a trial makes beside the fifteen steps. */
export interface Probe {
  title: string
  exchange: Exchange
}

export interface AttemptOptions {
  portal: Integration
  trial: Trial | null
  /** Seconds after which the trial of an expired code takes it for dead. */
  codeLifetime: number
  /** Ends the waiting when the simulator stops. */
  stop: AbortSignal
}

const FOREIGN = 'https://foreign.example/callback'
const WRONG_SECRET = 'not-the-secret'

/** One sign-in, or one trial, through a real browser; the simulator does the portal's own calls. */
export class Attempt {
  /** Names the attempt in addresses; not to be guessed. */
  readonly id = randomBytes(12).toString('base64url')
  readonly startedAt = new Date()
  readonly flow: SignIn
  readonly trial: Trial | null
  readonly probes: Probe[] = []
  conclusion: Conclusion | null = null
  /** Time from the redirect to the service until the browser was back. */
  away: number | null = null
  readonly #options: AttemptOptions
  readonly #start = performance.now()

  constructor (options: AttemptOptions) {
    this.#options = options
    this.trial = options.trial
    this.flow = new SignIn(options.portal)
  }

  /** Whether nothing more will happen. */
  get ended (): boolean {
    return this.conclusion !== null
  }

  /**
   * Steps 1 to 4. Looks first whether the service is there at all, so that nobody is sent to an address that does not answer.
   *
   * @returns where the browser has to go, or null when there is nothing for it to do
   */
  async begin (): Promise<string | null> {
    if (this.trial?.id === 'foreign-redirect-uri') return this.#foreignRedirectUri(this.trial)
    const url = this.flow.start()
    const exchange = await this.#look(url)
    const absent = this.#absent(exchange)
    if (absent === null) return url
    this.flow.fail(absent, exchange)
    this.conclusion = this.#failed()
    return null
  }

  /** Why the browser need not go to the service; null when it may. */
  #absent (exchange: Exchange): Failure | null {
    const status = statusOf(exchange)
    const fails = (step: number, error: string) => failure(step, error, 'a redirect, to the login page or to the portal', describe(exchange))
    if (exchange.trouble !== undefined) return fails(4, exchange.trouble.code)
    if (status === 404 || status === 405) return fails(4, 'not_found')
    if (status === 400) return fails(6, 'refused')
    return status >= 500 ? fails(5, 'server_error') : null
  }

  /** Steps 5 to 15, from the address under which the browser came back. Resolves when nothing more will happen; a second return changes nothing. */
  async finish (callbackUrl: string): Promise<void> {
    if (this.away !== null) return
    this.away = performance.now() - this.#start
    const code = this.flow.returned(callbackUrl)
    const [seventh] = this.flow.timeline.reports.filter(({ number, outcome }) => number === 7 && outcome === 'done')
    if (seventh !== undefined) seventh.milliseconds = Math.round(this.away)
    this.conclusion = code.ok ? await this.#serverToServer(code.value, this.trial) : this.#refused()
  }

  async #serverToServer (code: string, trial: Trial | null): Promise<Conclusion> {
    if (trial?.id === 'expired-code') return this.#expiredCode(code, trial)
    if (trial?.id === 'wrong-secret') return this.#wrongSecret(code, trial)
    if (trial?.id === 'ineligible-user') return letThrough(trial)
    const signedIn = await this.#signIn(code)
    if (trial === null || !signedIn.fine) return signedIn
    return this.#replayedCode(code, trial)
  }

  /** Steps 9 to 15. */
  async #signIn (code: string): Promise<Conclusion> {
    const token = await this.flow.redeem(code)
    if (token.ok) await this.flow.fetchUser(token.value)
    if (this.flow.record === null) return this.#failed()
    const [tokenCall, userCall] = this.flow.timeline.reports.filter(({ number }) => number === 12 || number === 15).map(({ milliseconds }) => Math.ceil(Number(milliseconds)))
    return { fine: true, title: `${this.flow.record.name} is signed in`, sentence: `All fifteen steps succeeded. Your service took ${String(tokenCall)} ms for the token and ${String(userCall)} ms for the user.` }
  }

  async #replayedCode (code: string, trial: Trial): Promise<Conclusion> {
    const exchange = await this.#probe('The same code once more', code)
    return this.#judged(exchange, trial, ['invalid_grant', 'invalid_request'])
  }

  async #wrongSecret (code: string, trial: Trial): Promise<Conclusion> {
    const exchange = await this.#probe('The code with a wrong secret', code, WRONG_SECRET)
    const judged = this.#judged(exchange, trial, ['invalid_client', 'invalid_request'])
    if (!judged.fine) return judged
    const after = await this.#signIn(code)
    if (after.fine) return { ...judged, sentence: `${judged.sentence} The code stayed good.` }
    return { fine: false, title: 'Refused, but the code was burnt by it', sentence: `${judged.sentence} Check the credentials before the code is taken: else whoever saw a code can spoil the sign-in.` }
  }

  async #expiredCode (code: string, trial: Trial): Promise<Conclusion> {
    const seconds = this.#options.codeLifetime + 1
    this.flow.timeline.run(9, `Waiting ${seconds} s, until the code has expired.`)
    await wait(seconds * 1000, undefined, { signal: this.#options.stop }).catch(() => {})
    await this.flow.redeem(code)
    return refusedAt([9, 10], trial, this.flow)
  }

  async #foreignRedirectUri (trial: Trial): Promise<null> {
    const url = this.flow.start({ redirect_uri: FOREIGN })
    const exchange = await this.#look(url)
    const target = redirectTarget(exchange, url)
    if (target !== null && target.startsWith(FOREIGN)) {
      this.flow.timeline.done(6, 'The service redirected to the foreign address.', exchange)
      this.conclusion = letThrough(trial)
    } else {
      const [step, error] = exchange.trouble === undefined ? [6, 'refused'] as const : [4, exchange.trouble.code] as const
      this.flow.fail(failure(step, error, 'an error page', describe(exchange)), exchange)
      this.conclusion = target === null ? refusedAt([6], trial, this.flow) : { fine: false, title: 'The service asks for a login first', sentence: 'Whether it refuses the address shows only behind the login: better refuse a foreign redirect_uri before anything else.' }
    }
    return null
  }

  /** Asks the authorization endpoint as a browser without session would, and follows nothing. */
  #look (url: string): Promise<Exchange> {
    return this.#options.portal.send({ method: 'GET', url, headers: [['Accept', 'text/html']] })
  }

  async #probe (title: string, code: string, secret?: string): Promise<Exchange> {
    const { portal } = this.#options
    const caller = secret === undefined ? portal : { ...portal, clientSecret: secret }
    const exchange = await portal.send(tokenRequest(caller, code, this.flow.verifier))
    const answer = readToken(exchange)
    if (answer.ok) this.flow.secrets.add(answer.value)
    this.probes.push({ title, exchange })
    return exchange
  }

  #judged (exchange: Exchange, trial: Trial, errors: string[]): Conclusion {
    const answer = readToken(exchange)
    if (answer.ok) return letThrough(trial)
    const received = this.flow.secrets.mask(answer.got)
    if (exchange.trouble !== undefined || statusOf(exchange) >= 500) return { fine: false, title: 'The trial could not be made', sentence: `${ended(received)} ${fixFor(answer.error)}` }
    const advice = errors.includes(answer.error) ? '' : ` The error should be ${errors[0]}.`
    return { fine: true, title: 'Refused, as it should be', sentence: `The service answered: ${ended(received)}${advice}` }
  }

  #refused (): Conclusion {
    return this.trial?.id === 'ineligible-user' ? refusedAt([5], this.trial, this.flow) : this.#failed()
  }

  #failed (): Conclusion {
    const { step, fix } = this.flow.failure as NonNullable<SignIn['failure']>
    return { fine: false, title: `The sign-in stopped at step ${step}`, sentence: fix }
  }
}
