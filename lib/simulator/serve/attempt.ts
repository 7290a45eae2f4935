import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { readToken } from '../../testing/responses.ts'
import { redirectTarget } from '../../testing/browser.ts'
import { describe, failure, type Failure, fixFor } from '../../testing/failure.ts'
import { tokenRequest } from '../../testing/requests.ts'
import { type Integration } from '../../testing/settings.ts'
import { SignIn } from '../../testing/legs.ts'
import { type Exchange, header, statusOf, type WireResponse } from '../../testing/wire.ts'
import { type LoggedOutVisit, visitLoggedOut } from './logged-out-visit.ts'
import {
  accepted, asSentence, type Conclusion, rejected, rejectedAt, type Trial, untested, userLetIn
} from './trials.ts'

/** A request that a trial sends beside the fifteen steps. */
export interface Probe {
  title: string
  exchange: Exchange
}

export interface AttemptOptions {
  portal: Integration
  trial: Trial | null
  /** Seconds that a code is valid at the service. The trial of an expired code waits one second longer. */
  codeLifetime: number
  /** Monotonic time in milliseconds. */
  clock: () => number
  /** Ends the waiting when the simulator stops. */
  stop: AbortSignal
}

/** The request that `begin` made, to see whether the service answers. */
interface FirstRequest { url: string, exchange: Exchange }

const FOREIGN = 'https://foreign.example/callback'
const WRONG_SECRET = 'not-the-secret'

/** One sign-in, or one trial, through a real browser. The simulator makes the portal's own requests. */
export class Attempt {
  /** Names the attempt in URLs. Cannot be guessed. */
  readonly id = randomBytes(12).toString('base64url')
  readonly startedAt = new Date()
  readonly flow: SignIn
  readonly trial: Trial | null
  readonly probes: Probe[] = []
  conclusion: Conclusion | null = null
  readonly #options: AttemptOptions
  #leftAt: number | null = null
  #first: FirstRequest | null = null
  #loggedOut: Promise<LoggedOutVisit> | null = null
  #returned = false
  #codeExpiresAt: number | null = null

  constructor (options: AttemptOptions) {
    this.#options = options
    this.trial = options.trial
    this.flow = new SignIn(options.portal)
  }

  /** Whether nothing more will happen. */
  get ended (): boolean {
    return this.conclusion !== null
  }

  /** Milliseconds that the browser has been at the service; null when it is not there. */
  get away (): number | null {
    return this.ended || this.#returned || this.#leftAt === null ? null : this.#options.clock() - this.#leftAt
  }

  /** Whole seconds until the code has expired; null when the attempt does not wait for that. */
  get secondsLeft (): number | null {
    if (this.#codeExpiresAt === null || this.ended) return null
    return Math.max(0, Math.ceil((this.#codeExpiresAt - this.#options.clock()) / 1000))
  }

  /** The error page with which the service ended the attempt; null when it sent none. */
  get servicePage (): WireResponse | null {
    const failed = this.flow.steps().find(({ outcome }) => outcome === 'failed')
    const response = failed?.exchange?.response
    return response !== undefined && /^text\/html\b/i.test(header(response, 'content-type')) ? response : null
  }

  /**
   * Steps 1 to 4. Asks first whether the service answers, so that no browser is sent to an address that does not.
   *
   * @returns where the browser has to go, or null when the attempt has ended
   */
  async begin (): Promise<string | null> {
    if (this.trial?.id === 'foreign-redirect-uri') return this.#foreignRedirectUri(this.trial)
    const url = this.flow.start()
    const exchange = await this.#ask(url)
    const absent = this.#absent(exchange)
    if (absent !== null) {
      this.flow.failed(absent, exchange)
      this.conclusion = this.#failed()
      return null
    }
    this.#leftAt = this.#options.clock()
    this.#first = { url, exchange }
    return url
  }

  /** What a browser without a session meets at the service. For an attempt whose browser is away; asks once. */
  async loggedOut (): Promise<LoggedOutVisit> {
    const { url, exchange } = this.#first as FirstRequest
    this.#loggedOut ??= visitLoggedOut(this.#options.portal, url, exchange)
    return await this.#loggedOut
  }

  /** Why the browser is not sent to the service; null when it is. */
  #absent (exchange: Exchange): Failure | null {
    const status = statusOf(exchange)
    const expected = 'a redirect to the login page or to the portal'
    const fails = (step: number, error: string): Failure => failure(step, error, expected, describe(exchange))
    if (exchange.networkError !== undefined) return fails(4, exchange.networkError.code)
    if (status === 404 || status === 405) return fails(4, 'not_found')
    if (status === 400) return fails(6, 'refused')
    return status >= 500 ? fails(5, 'server_error') : null
  }

  /** Steps 5 to 15, from the URL under which the browser came back. A second return changes nothing. */
  async finish (callbackUrl: string): Promise<void> {
    const { away } = this
    if (away === null) return
    this.#returned = true
    const code = this.flow.returned(callbackUrl)
    this.conclusion = code.ok ? await this.#serverToServer(code.value, this.trial) : this.#refused()
  }

  async #serverToServer (code: string, trial: Trial | null): Promise<Conclusion> {
    if (trial?.id === 'expired-code') return this.#expiredCode(code, trial)
    if (trial?.id === 'wrong-secret') return this.#wrongSecret(code, trial)
    const signedIn = await this.#signIn(code)
    if (trial?.id === 'ineligible-user') return userLetIn(this.flow.record?.name, trial)
    if (trial === null || signedIn.outcome !== 'pass') return signedIn
    return this.#replayedCode(code, trial)
  }

  /** Steps 9 to 15. */
  async #signIn (code: string): Promise<Conclusion> {
    const token = await this.flow.redeem(code)
    if (token.ok) await this.flow.fetchUser(token.value)
    if (this.flow.record === null) return this.#failed()
    const took = (step: number): number => Math.ceil(Number(this.flow.steps()[step - 1]?.milliseconds))
    return {
      outcome: 'pass',
      title: `${this.flow.record.name} is signed in`,
      sentence: 'All fifteen steps succeeded. ' +
        `Your service took ${took(12)} ms for the token and ${took(15)} ms for the user.`
    }
  }

  async #replayedCode (code: string, trial: Trial): Promise<Conclusion> {
    const exchange = await this.#probe('The used code again', code)
    return this.#judged(exchange, trial, ['invalid_grant', 'invalid_request'])
  }

  async #wrongSecret (code: string, trial: Trial): Promise<Conclusion> {
    const exchange = await this.#probe('The code with a wrong secret', code, WRONG_SECRET)
    const judged = this.#judged(exchange, trial, ['invalid_client', 'invalid_request'])
    if (judged.outcome !== 'pass') return judged
    const after = await this.#signIn(code)
    if (after.outcome === 'pass') return { ...judged, sentence: `${judged.sentence} The code stayed valid.` }
    const advice = 'Check the credentials before the code is taken: otherwise anyone who sees a code can use it up.'
    return { outcome: 'fail', title: 'Rejected, but the code is used up', sentence: `${judged.sentence} ${advice}` }
  }

  async #expiredCode (code: string, trial: Trial): Promise<Conclusion> {
    const milliseconds = (this.#options.codeLifetime + 1) * 1000
    this.#codeExpiresAt = this.#options.clock() + milliseconds
    const note = 'Waiting until the code has expired.'
    this.flow.legs = { ...this.flow.legs, running: { leg: 'redeem', note } }
    await wait(milliseconds, undefined, { signal: this.#options.stop }).catch(() => {})
    this.#codeExpiresAt = null
    await this.flow.redeem(code)
    return rejectedAt([9, 10], trial, this.flow)
  }

  async #foreignRedirectUri (trial: Trial): Promise<null> {
    const url = this.flow.start({ redirect_uri: FOREIGN })
    const exchange = await this.#ask(url)
    const target = redirectTarget(exchange, url)
    if (target?.startsWith(FOREIGN) === true) {
      this.conclusion = accepted(trial)
      return null
    }
    const { code } = exchange.networkError ?? {}
    const [step, error] = code === undefined ? [6, 'refused'] as const : [4, code] as const
    this.flow.failed(failure(step, error, 'an error page', describe(exchange)), exchange)
    this.conclusion = target === null ? rejectedAt([6], trial, this.flow) : LOGIN_FIRST
    return null
  }

  /** Sends the authorization request of a browser without a session, and follows no redirect. */
  #ask (url: string): Promise<Exchange> {
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
    if (answer.ok) return accepted(trial)
    const got = this.flow.secrets.mask(answer.got)
    const unavailable = exchange.networkError !== undefined || statusOf(exchange) >= 500
    if (unavailable) return untested(`${asSentence(got)} ${fixFor(answer.error)}`)
    const { sentence, ...conclusion } = rejected(got)
    const advice = errors.includes(answer.error) ? '' : ` The error should be ${errors[0]}.`
    return { ...conclusion, sentence: `${sentence}${advice}` }
  }

  #refused (): Conclusion {
    return this.trial?.id === 'ineligible-user' ? rejectedAt([5], this.trial, this.flow) : this.#failed()
  }

  #failed (): Conclusion {
    const { step, fix } = this.flow.failure as NonNullable<SignIn['failure']>
    return { outcome: 'fail', title: `The sign-in stopped at step ${step}`, sentence: fix }
  }
}

const LOGIN_FIRST: Conclusion = {
  outcome: 'fail',
  title: 'The service asks for a login first',
  sentence: 'Reject a foreign redirect_uri before the login: behind it, the simulator cannot see what happens.'
}
