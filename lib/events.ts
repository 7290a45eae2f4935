import { channel } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'
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

/** An event before the request's id is added. */
type ReportedEvent = PartnerSsoEvent extends infer Event
  ? Event extends PartnerSsoEvent ? Omit<Event, 'requestId'> : never
  : never

/** Every event is published here too, for metrics and traces. */
const events = channel('fastify-partner-sso:event')

/** Reports what happened: to the log, to `onEvent` and on the diagnostics channel. */
export class Reporter {
  readonly #onEvent: OnEvent | undefined

  constructor (onEvent?: OnEvent) {
    this.#onEvent = onEvent
  }

  /** Reports an outcome that is not a refusal. */
  report (request: FastifyRequest, outcome: ReportedEvent): void {
    const { type: event, ...fields } = outcome
    request.log.info({ event, ...fields }, `partner-sso: ${event}`)
    this.#publish(request, outcome)
  }

  /** Reports a refusal. Its hint and its cause are for the log alone. */
  refused (request: FastifyRequest, { reason, refusal, context }: OAuthError): void {
    const { cause, ...known } = context
    const { type: event, level, hint } = refusal
    // `code_replayed` and `store_unavailable` are both a type and a reason.
    const message = event === (reason as string) ? event : `${event} (${reason})`
    request.log[level]({ event, reason, ...known, hint, err: cause }, `partner-sso: ${message}`)
    this.#publish(request, { type: event, reason, ...known }, cause)
  }

  #publish (request: FastifyRequest, outcome: ReportedEvent, cause?: unknown): void {
    const event = { ...outcome, requestId: requestIdOf(request) }
    void this.#tellHost(event, request, cause)
    events.publish(event)
  }

  /** Calls `onEvent`. It may be async, and its rejection, if it were unhandled, would end the process. */
  async #tellHost (event: PartnerSsoEvent, request: FastifyRequest, cause: unknown): Promise<void> {
    try {
      await this.#onEvent?.(event, request, cause)
    } catch (error) {
      logFailure(request, 'onEvent threw', error)
    }
  }
}

/** Logs an error of the host's own code that no longer affects the response. */
export function logFailure (request: FastifyRequest, what: string, err: unknown): void {
  request.log.error({ err }, `partner-sso: ${what}`)
}

/** The id of a request as text: `genReqId` of the host may return a number or an object, for instance. */
export function requestIdOf ({ id }: { id: unknown }): string {
  return typeof id === 'object' ? JSON.stringify(id) : String(id)
}
