import { type FastifyRequest } from 'fastify'
import { type OAuthError, type RefusalReason, type RefusalType } from './errors.ts'

interface EventFields {
  /** `client_id` of the portal concerned; absent while it is not known which one that is. */
  clientId?: string
  /** Fastify's id of the request. */
  requestId: string
  /** The partner application's identifier of the user; absent while it is not known who that is. */
  externalId?: string
}

/** A step of a sign-in that went as it should. */
export interface SuccessEvent extends EventFields {
  type: 'code_issued' | 'token_issued' | 'user_information_returned'
  reason: 'ok'
}

/** A user who is not logged in was sent to the login page, or answered by `currentUser` itself. */
export interface LoginRequiredEvent extends EventFields {
  type: 'login_required'
  reason: 'login_page' | 'answered_by_current_user'
}

/** A request was refused. */
export interface RefusalEvent extends EventFields {
  type: RefusalType
  reason: RefusalReason
  /** The registered redirect_uri, where another one was refused. */
  expected?: string
}

/**
 * What happened: one event for each outcome of a request. It never holds a secret, code, token, e-mail address or name.
 */
export type PartnerSsoEvent = SuccessEvent | LoginRequiredEvent | RefusalEvent

/** Told of every event. A throw in it is logged and changes nothing. */
export type OnEvent = (event: PartnerSsoEvent, request: FastifyRequest) => void

type Level = 'debug' | 'info' | 'warn' | 'error'

/** An event before the request's id is added. */
type Outcome = PartnerSsoEvent extends infer Event ? Event extends PartnerSsoEvent ? Omit<Event, 'requestId'> : never : never

/** Tells the log and the host what happened. */
export class Reporter {
  readonly #onEvent: OnEvent | undefined

  constructor (onEvent?: OnEvent) {
    this.#onEvent = onEvent
  }

  report (request: FastifyRequest, outcome: Outcome, level: Level = 'info', err?: unknown): void {
    const { type, ...fields } = outcome
    log(request, level, { event: type, ...fields }, `partner-sso: ${type}`, err)
    const threw = (error: unknown) => this.failed(request, 'onEvent threw', error)
    try {
      // An async function may stand for one that returns nothing; its rejection would end the process.
      const told: unknown = this.#onEvent?.({ ...outcome, requestId: request.id }, request)
      if (told instanceof Promise) told.catch(threw)
    } catch (error) {
      threw(error)
    }
  }

  /** Logs what the host's own code has thrown, where the answer does not depend on it any more. */
  failed (request: FastifyRequest, what: string, error: unknown): void {
    log(request, 'error', {}, `partner-sso: ${what}`, error)
  }

  refused (request: FastifyRequest, { reason, refusal, context }: OAuthError, level: Level = refusal.level): void {
    const { cause, ...known } = context
    this.report(request, { type: refusal.type, reason, ...known }, level, cause)
  }
}

/** Logs with what was thrown, or without it where its own getters throw: that must not decide what is answered. */
function log (request: FastifyRequest, level: Level, fields: object, message: string, err: unknown): void {
  if (err === undefined) return request.log[level](fields, message)
  try {
    request.log[level]({ ...fields, err }, message)
  } catch {
    request.log[level](fields, message)
  }
}
