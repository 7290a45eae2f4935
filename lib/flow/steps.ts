import type { Failure } from './failure.ts'
import type { Exchange } from './wire.ts'

/** How far a step has come. A step after a failed one stays `waiting`. */
export type StepOutcome = 'waiting' | 'running' | 'done' | 'failed'

/** One of the fifteen steps of the flow, and what happened in it. */
export interface StepReport {
  /** 1 to 15. */
  number: number
  actor: 'Browser' | 'Portal' | 'Service'
  action: string
  outcome: StepOutcome
  /** What the portal got, where the step failed; empty otherwise. */
  note: string
  /** The HTTP exchange of the step, where it has one. Of a request that was sent, the response is at a later step. */
  exchange?: Exchange | undefined
}

/**
 * The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end), and which of
 * the four exchanges a step shows.
 */
const STEPS: Array<[actor: StepReport['actor'], action: string, shows?: number]> = [
  ['Browser', 'User is sent to the portal’s start URL, which ends with the credentials identifier.'],
  ['Portal', 'Finds its OAuth configuration by the credentials identifier.'],
  ['Portal', 'Creates a session and stores a random state in it, on the server only.'],
  ['Portal', 'Redirects the browser to GET /oauth/authorize.', 0],
  ['Service', 'Makes sure the user is logged in and may use the portal.'],
  ['Service', 'Validates client_id and redirect_uri.'],
  ['Service', 'Redirects the browser to the portal with a code and the same state.', 1],
  ['Portal', 'Compares the state from the redirect with the one in the session.'],
  ['Portal', 'Calls POST /oauth/token with its credentials and the code.', 2],
  ['Service', 'Validates the code: single use, only at this step.'],
  ['Service', 'Validates the client credentials.'],
  ['Service', 'Returns an access token, linked to the user of the code.', 2],
  ['Portal', 'Calls GET /oauth/user with the access token.', 3],
  ['Service', 'Validates the access token: single use, only at this step.'],
  ['Service', 'Returns the user information.', 3]
]

/** The last step of each exchange. */
const ENDS = [4, 8, 12, 15]
/** The portal’s own requests. */
const SENDS = [9, 13]
/** Steps that are done where any later one fails. Of the others it is not known. */
const CERTAIN = [3, ...ENDS, ...SENDS]
/** Errors that prove that all earlier steps succeeded. */
const LATE = ['no_code', 'state_mismatch', 'malformed_token', 'malformed_record']

/** A sign-in as far as it has come. */
export interface Progress {
  /** In a failed sign-in the last one failed. */
  exchanges: Exchange[]
  failure: Failure | null
  /** The step that is in progress. */
  running?: number | undefined
}

/** The fifteen steps, as far as the sign-in has come. */
export function stepsOf (progress: Progress): StepReport[] {
  const { exchanges, failure, running } = progress
  const done = lastDone(progress)
  return STEPS.map(([actor, action, shows = NaN], at) => {
    const number = at + 1
    const step = { number, actor, action, note: '' }
    if (number === failure?.step) {
      return {
        ...step,
        outcome: 'failed',
        note: failure.got,
        exchange: exchanges.at(-1)
      }
    }
    if (number > done) {
      return { ...step, outcome: number === running ? 'running' : 'waiting' }
    }
    const exchange = exchanges[shows]
    const sent = exchange && { request: exchange.request, milliseconds: 0 }
    return {
      ...step,
      outcome: 'done',
      exchange: SENDS.includes(number) ? sent : exchange
    }
  })
}

function lastDone ({ exchanges, failure }: Progress): number {
  if (failure === null) return ENDS[exchanges.length - 1] ?? 0
  if (LATE.includes(failure.error)) return failure.step - 1
  return Math.max(...CERTAIN.filter((number) => number < failure.step))
}
