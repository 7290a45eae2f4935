import { channel } from 'node:diagnostics_channel'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { OAuthError, RefusalContext, RefusalReason, RefusalType } from './errors.ts'

interface EventFields {
  /** `client_id` of the portal; absent while the portal is not known. */
  clientId?: string
  /** Fastify's id of the request, as text. */
  requestId: string
  /** The partner application's identifier of the user; absent while the user is not known. */
  externalId?: string
  /**
   * The same in all events of one sign-in, from `code_issued` to a replay of its code long after: 20 characters,
   * derived one-way from the code. Absent until the portal is authenticated, or where its code or token is malformed.
   */
  signInId?: string
}

/** A step of a sign-in that succeeded. */
export interface SuccessEvent extends EventFields {
  type: 'code_issued' | 'user_information_returned'
  reason: 'ok'
}

/** A code was exchanged for an access token. */
export interface TokenIssuedEvent extends EventFields {
  type: 'token_issued'
  reason: 'ok'
  /**
   * Index of the portal's secret that matched, from 0. During a rotation it shows whether the old secret is still in
   * use.
   */
  secretIndex: number
  /**
   * `none`: HTTP Basic was used, and the credentials match as they were sent, not form-decoded. RFC 6749 section 2.3.1
   * wants them encoded; most client libraries do not encode. Absent otherwise.
   */
  basicEncoding?: 'none'
}

/** A user who is not logged in was sent to the login page, or `currentUser` sent its own reply. */
export interface LoginRequiredEvent extends EventFields {
  type: 'login_required'
  reason: 'login_page' | 'current_user_replied'
}

/** A request was refused. */
export interface RefusalEvent extends EventFields, Omit<RefusalContext, 'cause'> {
  type: RefusalType
  reason: RefusalReason
}

/**
 * What happened: one event for each outcome of a request. It never contains a secret, code, token, e-mail address or
 * name.
 */
export type PartnerSsoEvent = SuccessEvent | TokenIssuedEvent | LoginRequiredEvent | RefusalEvent

/**
 * Called with every event. `cause` is what was thrown, as the log line has it: by your own functions, or by the store.
 * It is not checked for personal data. A throw in `onEvent` is logged and changes nothing.
 */
export type OnEvent = (event: PartnerSsoEvent, request: FastifyRequest, cause?: unknown) => void

type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** An event before the request's id is added. */
type Outcome = PartnerSsoEvent extends infer Event
  ? Event extends PartnerSsoEvent ? Omit<Event, 'requestId'> : never
  : never

/** Fields of the log line that the event does not have. */
interface LogFields {
  hint?: string | undefined
  err?: unknown
}

/** Every event is published here too, for metrics and traces. */
const events = channel('fastify-partner-sso:event')

/** Reports what happened: to the log, to `onEvent` and on the diagnostics channel. */
export class Reporter {
  readonly #onEvent: OnEvent | undefined

  constructor (onEvent?: OnEvent) {
    this.#onEvent = onEvent
  }

  report (request: FastifyRequest, outcome: Outcome): void {
    if (isLogged(request.log, 'info')) logEvent(request, 'info', outcome, outcome.type)
    this.#publish(request, outcome)
  }

  refused (request: FastifyRequest, { reason, refusal, context }: OAuthError): void {
    const { cause: err, ...known } = context
    const { type, level, hint } = refusal
    const outcome = { type, reason, ...known }
    const what: string = type === reason ? type : `${type} (${reason})`
    if (isLogged(request.log, level)) logEvent(request, level, outcome, what, { hint, err })
    this.#publish(request, outcome, err)
  }

  /** Logs an error of the host's own code that no longer affects the response. */
  failed (request: FastifyRequest, what: string, error: unknown): void {
    log(request, 'error', {}, `partner-sso: ${what}`, error)
  }

  #publish (request: FastifyRequest, outcome: Outcome, cause?: unknown): void {
    if (this.#onEvent === undefined && !events.hasSubscribers) return
    const event = { ...outcome, requestId: requestIdOf(request) }
    this.#callHost(event, request, cause)
    events.publish(event)
  }

  #callHost (event: PartnerSsoEvent, request: FastifyRequest, cause: unknown): void {
    const threw = (error: unknown) => this.failed(request, 'onEvent threw', error)
    try {
      const returned: unknown = this.#onEvent?.(event, request, cause)
      // TypeScript accepts an async function here. Unhandled, its rejection would end the process, and it may be a
      // promise of another realm or of another library.
      if (returned === undefined) return
      Promise.resolve(returned).catch(threw)
    } catch (error) {
      threw(error)
    }
  }
}

/** `genReqId` of the host may return anything: a number, for instance. */
export function requestIdOf ({ id }: { id: unknown }): string {
  return typeof id === 'object' ? JSON.stringify(id) : String(id)
}

function logEvent (
  request: FastifyRequest, level: LogLevel, { type: event, ...fields }: Outcome, what: string, more: LogFields = {}
): void {
  const { err, ...rest } = more
  log(request, level, { event, ...fields, ...rest }, `partner-sso: ${what}`, err)
}

/** Whether a line of this level is written; true for a logger without `isLevelEnabled`. */
function isLogged (
  log: FastifyBaseLogger & { isLevelEnabled?: (level: LogLevel) => boolean }, level: LogLevel
): boolean {
  return log.isLevelEnabled?.(level) ?? true
}

/** Logs with the error, or without it where its own getters throw: they must not change the response. */
function log (request: FastifyRequest, level: LogLevel, fields: object, message: string, err: unknown): void {
  if (err === undefined) return request.log[level](fields, message)
  try {
    request.log[level]({ ...fields, err }, message)
  } catch {
    request.log[level](fields, message)
  }
}
