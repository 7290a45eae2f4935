import { randomBytes } from 'node:crypto'
import { setTimeout as realTime } from 'node:timers/promises'
import type { Finding } from '../../check/run.ts'
import { tryRule } from '../../check/run.ts'
import type { Material } from '../../check/subject.ts'
import { Subject } from '../../check/subject.ts'
import type { Grant } from '../../flow/legs.ts'
import { returned, secretsOf, SignIn } from '../../flow/legs.ts'
import { pageRequest } from '../../flow/requests.ts'
import type { Secrets } from '../../flow/masking.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Exchange, Send } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import type { Trial } from './trials.ts'
import { LOGIN_RULES } from './trials.ts'

export interface AttemptOptions {
  integration: Integration
  trial: Trial | null
  /** Seconds that a code is valid at the service. */
  codeLifetime: number
  /** Ends the waiting when the simulator stops. */
  stop: AbortSignal
}

/** Characters of a response that are kept. */
const LARGEST = 32 * 1024
/** Characters that are removed from the end of a cut response: they may be half of a secret. */
const MARGIN = 1024

/**
 * One sign-in, or one trial, through a real browser. The simulator makes the portal's own requests.
 */
export class Attempt {
  /** Names the attempt in URLs. Cannot be guessed. */
  readonly id = randomBytes(12).toString('base64url')
  readonly startedAt = new Date()
  readonly trial: Trial | null
  readonly signIn: SignIn
  /** The result of the trial's rule. */
  finding: Finding | null = null
  /** The exchanges of the trial, secrets not hidden. */
  readonly exchanges: Exchange[] = []
  /** Whether the browser is at the service. */
  isAway = false
  /** Whether it came back. */
  cameBack = false
  /** Whether nothing more will happen. */
  ended = false
  /** When the expired code will be sent. */
  sendsAt: Date | null = null
  readonly #options: AttemptOptions
  #login: Promise<Finding[]> | null = null

  constructor (options: AttemptOptions) {
    this.#options = options
    this.trial = options.trial
    const { integration } = options
    const secrets = secretsOf(integration)
    const send = firstKilobytes(integration.send, secrets)
    this.signIn = new SignIn({ ...integration, send }, secrets)
  }

  /**
   * Steps 1 to 4. First tries whether the service responds, so that the browser is not sent to a
   * dead address.
   *
   * @returns where the browser has to go, or null when the attempt has ended
   */
  async begin (): Promise<string | null> {
    const url = this.trial?.takes === 'nothing' ? await this.#try({}) : await this.#send()
    this.ended = url === null
    return url
  }

  /** Steps 5 to 15, from the URL under which the browser came back. */
  async finish (callbackUrl: string): Promise<void> {
    this.cameBack = true
    this.isAway = false
    const ineligible = returned(callbackUrl, this.signIn.integration)
    const code = this.signIn.arrived(ineligible)
    if (code.ok) await this.#withCode({ code: code.value, verifier: this.signIn.verifier })
    else if (this.trial?.takes === 'refusal') await this.#try({ ineligible })
    this.ended = true
  }

  /** What `check` finds on the way to the login. Checks once. */
  loginFindings (): Promise<Finding[]> {
    const { integration, stop } = this.#options
    const subject = new Subject(integration, {}, stop)
    this.#login ??= Promise.all(LOGIN_RULES.map((rule) => tryRule(subject, rule)))
    return this.#login
  }

  async #send (): Promise<string | null> {
    const { integration } = this.signIn
    const url = this.signIn.start()
    const exchange = await integration.send(pageRequest(url))
    this.isAway = !isDown(exchange)
    if (this.isAway) return url
    const at = exchange.response === undefined ? 'nowhere' : 'page'
    this.signIn.arrived({ at, exchange, url, target: null, hops: [exchange] })
    return null
  }

  async #withCode (grant: Grant): Promise<void> {
    if (this.trial?.takes === 'code') {
      await this.#try({ grant })
      return
    }
    const { ok } = await this.signIn.complete(grant.code)
    if (ok && this.trial?.takes === 'redeemed code') await this.#try({ redeemed: grant })
  }

  /** Tries the rule of the trial. Returns null: the browser is not sent anywhere. */
  async #try (material: Material): Promise<null> {
    const { codeLifetime, stop } = this.#options
    const subject = new Subject(this.signIn.integration, {
      codeLifetime,
      material,
      secrets: this.signIn.secrets,
      wait: (milliseconds, signal) => {
        this.sendsAt = new Date(Date.now() + milliseconds)
        return realTime(milliseconds, undefined, { signal })
      },
      onExchange: (exchange) => this.exchanges.push(exchange)
    }, stop)
    this.finding = await tryRule(subject, (this.trial as Trial).rule)
    return null
  }
}

/** Whether the service fails. 401 and 403 may be its response to a user who is not logged in. */
function isDown (exchange: Exchange): boolean {
  const status = statusOf(exchange)
  return status === 0 || (status >= 400 && status !== 401 && status !== 403)
}

/** Only the beginning of a long response is kept. */
const firstKilobytes = (send: Send, secrets: Secrets): Send => async (request, signal) => {
  const { response, ...exchange } = await send(request, signal)
  if (response === undefined) return exchange
  const { body } = response
  const kept = body.length > LARGEST
    ? `${secrets.mask(body.slice(0, LARGEST)).slice(0, -MARGIN)}…`
    : body
  return { ...exchange, response: { ...response, body: kept } }
}
