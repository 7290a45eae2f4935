import { randomBytes } from 'node:crypto'
import type { Finding } from '../../check/run.ts'
import { byId, tryRule } from '../../check/run.ts'
import { Subject } from '../../check/subject.ts'
import type { Integration } from '../../flow/integration.ts'
import { returned, SignIn } from '../../flow/legs.ts'
import { Secrets } from '../../flow/masking.ts'
import { pageRequest } from '../../flow/requests.ts'
import type { Exchange, Send } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import { TRIAL } from './trial.ts'

export interface Settings {
  integration: Integration
  /** The origin at which browsers reach the simulator. */
  publicUrl: string
  /** Whether that URL was given: a proxy in front may have it. */
  isBehindProxy: boolean
  /** Ends the simulator, and what waits in it. */
  stop: AbortSignal
}

/** Rules that are tried when a browser does not come back. */
export const LOGIN_RULES = ['authorize.hook', 'login.page', 'login.form-action'].map(byId)
/** The step at which the browser is at the service. */
const AWAY = 5
/** Characters of a response that are kept. */
const LARGEST = 32 * 1024

/**
 * One sign-in through a real browser. The simulator makes the portal's own requests.
 */
export class Attempt {
  /** Of its page. Cannot be guessed. */
  readonly path = `/sign-ins/${randomBytes(12).toString('base64url')}`
  readonly startedAt = new Date()
  /** Of the browser that began it. */
  readonly session: string
  /** Whether it is the trial of a user who may not enter. */
  readonly isTrial: boolean
  readonly signIn: SignIn
  /** What the trial found. */
  finding?: Finding
  /** Whether nothing more will happen. */
  ended = false
  readonly #settings: Settings
  #login?: Promise<Finding[]>

  constructor (session: string, isTrial: boolean, settings: Settings) {
    const { integration } = settings
    const secrets = new Secrets(integration)
    const send = firstKilobytes(integration.send)
    this.session = session
    this.isTrial = isTrial
    this.#settings = settings
    this.signIn = new SignIn({ ...integration, send }, secrets)
  }

  /** Whether the browser is at the service. */
  get isAway (): boolean {
    return this.signIn.running === AWAY
  }

  /**
   * Steps 1 to 4. First tries whether the service responds, so that the browser is not sent to a
   * dead address.
   *
   * @returns where the browser has to go
   */
  async begin (): Promise<string> {
    const { signIn } = this
    const url = signIn.start()
    const exchange = await signIn.integration.send(pageRequest(url))
    if (!isDown(exchange)) return url
    const at = exchange.response === undefined ? 'nowhere' : 'page'
    signIn.arrived({ at, exchange, url, target: null, hops: [exchange] })
    this.ended = true
    return this.path
  }

  /** Steps 5 to 15, from the URL under which the browser came back. */
  async finish (callbackUrl: string): Promise<void> {
    const { signIn } = this
    const arrival = returned(callbackUrl, signIn.integration)
    const issued = signIn.arrived(arrival)
    if (issued.ok) {
      await signIn.complete(issued.value)
    } else if (this.isTrial) {
      const options = { refused: arrival, secrets: signIn.secrets }
      this.finding = await tryRule(new Subject(signIn.integration, options, this.#settings.stop), TRIAL.rule)
    }
    this.ended = true
  }

  /** What `check` finds on the way to the login. Checks once. */
  loginFindings (): Promise<Finding[]> {
    const { integration, stop } = this.#settings
    const subject = new Subject(integration, {}, stop)
    this.#login ??= Promise.all(LOGIN_RULES.map((rule) => tryRule(subject, rule)))
    return this.#login
  }
}

/** Whether the service fails. 401 and 403 may be its response to a user who is not logged in. */
function isDown (exchange: Exchange): boolean {
  const status = statusOf(exchange)
  return status === 0 || (status >= 400 && ![401, 403].includes(status))
}

/** Only the beginning of a long response is kept. */
const firstKilobytes = (send: Send): Send => async (request, signal) => {
  const exchange = await send(request, signal)
  const { response } = exchange
  if (response !== undefined) response.body = response.body.slice(0, LARGEST)
  return exchange
}
