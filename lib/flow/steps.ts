import type { Failure } from './failure.ts'
import type { Reading } from './responses.ts'
import type { Exchange } from './wire.ts'

/** How far a step has come. A step after a failed one stays `waiting`. */
export type Outcome = 'waiting' | 'running' | 'done' | 'failed'

/** One of the fifteen steps of the flow, and what happened in it. */
export interface StepReport {
  /** 1 to 15. */
  number: number
  actor: 'Browser' | 'Portal' | 'Service'
  action: string
  outcome: Outcome
  /** What the portal got, where the step failed; empty otherwise. */
  note: string
  /** The HTTP exchange of the step, where it has one. */
  exchange?: Exchange
  /** Duration of the step's own exchange; absent where the step makes no call. */
  milliseconds?: number
}

/** The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end). */
const STEPS: ReadonlyArray<[actor: StepReport['actor'], action: string]> = [
  ['Browser', 'User is sent to the portal’s start URL, which ends with the credentials identifier.'],
  ['Portal', 'Finds its OAuth configuration by the credentials identifier.'],
  ['Portal', 'Creates a session and stores a random state in it, on the server only.'],
  ['Portal', 'Redirects the browser to GET /oauth/authorize.'],
  ['Service', 'Makes sure the user is logged in and may use the portal.'],
  ['Service', 'Validates client_id and redirect_uri.'],
  ['Service', 'Redirects the browser to the portal with a code and the same state.'],
  ['Portal', 'Compares the state from the redirect with the one in the session.'],
  ['Portal', 'Calls POST /oauth/token with its credentials and the code.'],
  ['Service', 'Validates the code: single use, only at this step.'],
  ['Service', 'Validates the client credentials.'],
  ['Service', 'Returns an access token, linked to the user of the code.'],
  ['Portal', 'Calls GET /oauth/user with the access token.'],
  ['Service', 'Validates the access token: single use, only at this step.'],
  ['Service', 'Returns the user information.']
]

/** A part of a sign-in that one exchange decides, and what the portal reads in its response. */
export interface Leg<Value> {
  exchange: Exchange
  reading: Reading<Value>
}

/** The last steps of the four legs. */
const ENDS = [4, 8, 12, 15]
/** Steps that show the exchange of their leg. */
const SHOWN = [4, 7, 9, 12, 13, 15]
/** Steps that succeeded where their leg has an exchange: the portal's own requests. */
const SENT = [9, 13]
/** Errors that show the earlier steps of their leg to have succeeded. */
const LATE = ['no_code', 'state_mismatch', 'malformed_token', 'malformed_record']

/** A sign-in as far as it has come. */
export interface Progress {
  /** The exchange of each leg. The last one failed, where one did. */
  exchanges: Exchange[]
  failure: Failure | null
  /** The step that is in progress. */
  running?: number | undefined
}

/** The fifteen steps of a sign-in that has come so far. */
export const stepsOf = (progress: Progress): StepReport[] => STEPS.map(([actor, action], at) =>
  ({ number: at + 1, actor, action, outcome: 'waiting', note: '', ...reportOf(at + 1, progress) }))

function reportOf (number: number, { exchanges, failure, running }: Progress): Partial<StepReport> {
  const leg = ENDS.findIndex((end) => number <= end)
  const exchange = exchanges[leg]
  if (number === failure?.step) return { outcome: 'failed', note: failure.got, ...timed(exchanges.at(-1) as Exchange) }
  if (exchange === undefined) return number === running ? { outcome: 'running' } : {}
  const hasFailed = failure !== null && leg === exchanges.length - 1
  if (hasFailed) return isProven(number, failure) ? { outcome: 'done' } : {}
  return { outcome: 'done', ...SHOWN.includes(number) ? timed(exchange) : {} }
}

/** Of the steps before a failed one, those that the failure proves are done; the others stay open. */
const isProven = (number: number, { step, error }: Failure): boolean =>
  number < step && (SENT.includes(number) || LATE.includes(error))

/** No time where the response was not seen: a browser got it. */
function timed (exchange: Exchange): Partial<StepReport> {
  const { response, networkError, milliseconds } = exchange
  return { exchange, ...response === undefined && networkError === undefined ? {} : { milliseconds } }
}
