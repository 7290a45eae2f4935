import { channel } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'
import type { OAuthError, RefusalContext, RefusalReason, RefusalType } from './errors.ts'

/** What every event has. */
interface EventFields {
  /** The `client_id` of the portal. It is absent while the portal is not known. */
  clientId?: string
  /** Fastify's id of the request, as text: the same as in the log lines of the request and on the error page. */
  requestId: string
  /** Your identifier of the user, `external_id` of the record. It is absent while the user is not known. */
  externalId?: string
  /**
   * What all events of one sign-in have in common, from `code_issued` to a replay of its code long after: 20
   * characters that are derived one-way from the code. It is absent until the portal is authenticated, and where its
   * code or token is malformed.
   */
  signInId?: string
}

/**
 * A step of a sign-in that succeeded: a code was issued (RFC 6749 section 4.1.2), or the record of the user was
 * returned to the portal.
 */
export interface SuccessEvent extends EventFields {
  type: 'code_issued' | 'user_information_returned'
  reason: 'ok'
}

/** An authorization code was exchanged for an access token (RFC 6749 section 4.1.4). */
export interface TokenIssuedEvent extends EventFields {
  type: 'token_issued'
  reason: 'ok'
  /**
   * Which of the portal's secrets was used, counted from 0. While a secret is replaced by another, it shows whether the
   * old one is still in use.
   */
  secretIndex: number
}

/**
 * Nobody was logged in: the browser was sent to `loginPage` (reason `login_page`), or `currentUser` sent a reply of its
 * own (reason `current_user_replied`).
 */
export interface LoginRequiredEvent extends EventFields {
  type: 'login_required'
  reason: 'login_page' | 'current_user_replied'
}

/**
 * A request was refused. It has what was known about the request by then, and never what somebody sent: of a
 * redirect_uri that is not the registered one, for instance, in what it differs.
 */
export interface RefusalEvent extends EventFields, Omit<RefusalContext, 'cause'> {
  type: RefusalType
  reason: RefusalReason
}

/**
 * The outcome of a request. There is one event for each request that the plugin responds to, in the log, for
 * {@link OnEvent `onEvent`}, and on the `diagnostics_channel` named `fastify-partner-sso:event`. Events differ by their
 * `type`. An event never has a secret, code, token, e-mail address or name.
 */
export type PartnerSsoEvent = SuccessEvent | TokenIssuedEvent | LoginRequiredEvent | RefusalEvent

/**
 * The type of the option `onEvent`, a function that is called with each event. It may be async. When it throws, the
 * error is logged, and nothing else changes.
 *
 * @param event - what happened
 * @param request - the request that it happened to
 * @param cause - what one of your functions or the store threw, as the log line has it in `err`. The plugin does not
 *   look for personal data in it
 */
export type OnEvent = (event: PartnerSsoEvent, request: FastifyRequest, cause?: unknown) => void

/** An event before the id of the request is added: each kind by itself, so that they still differ by `type`. */
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
    if (this.#onEvent !== undefined) void this.#tellHost(this.#onEvent, event, request, cause)
    events.publish(event)
  }

  /** Calls `onEvent`. It may be async, and its rejection, if it were unhandled, would end the process. */
  async #tellHost (onEvent: OnEvent, event: PartnerSsoEvent, request: FastifyRequest, cause: unknown): Promise<void> {
    try {
      await onEvent(event, request, cause)
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
