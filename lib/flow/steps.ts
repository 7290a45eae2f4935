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

type Action = [actor: StepReport['actor'], action: string]

/** The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end), in four legs. */
const LEGS: Action[][] = [
  [
    ['Browser', 'User is sent to the portal’s start URL, which ends with the credentials identifier.'],
    ['Portal', 'Finds its OAuth configuration by the credentials identifier.'],
    ['Portal', 'Creates a session and stores a random state in it, on the server only.'],
    ['Portal', 'Redirects the browser to GET /oauth/authorize.']
  ],
  [
    ['Service', 'Makes sure the user is logged in and may use the portal.'],
    ['Service', 'Validates client_id and redirect_uri.'],
    ['Service', 'Redirects the browser to the portal with a code and the same state.'],
    ['Portal', 'Compares the state from the redirect with the one in the session.']
  ],
  [
    ['Portal', 'Calls POST /oauth/token with its credentials and the code.'],
    ['Service', 'Validates the code: single use, only at this step.'],
    ['Service', 'Validates the client credentials.'],
    ['Service', 'Returns an access token, linked to the user of the code.']
  ],
  [
    ['Portal', 'Calls GET /oauth/user with the access token.'],
    ['Service', 'Validates the access token: single use, only at this step.'],
    ['Service', 'Returns the user information.']
  ]
]

/** The portal’s own requests: they succeeded where their leg has an exchange. */
export const SENDS = [9, 13]
/** The steps that report the exchange of their leg. */
const SHOWS = [4, 7, 12, 15, ...SENDS]

/** The steps of one exchange: the exchange, and what the portal reads in its response. */
export interface Leg<Value> {
  exchange: Exchange
  reading: Reading<Value>
}

/** Errors that prove that the earlier steps of their leg succeeded. */
const LATE = ['no_code', 'state_mismatch', 'malformed_token', 'malformed_record']

/** A sign-in as far as it has come. */
export interface Progress {
  /** The exchange of each leg. In a failed sign-in the last one failed. */
  exchanges: Exchange[]
  failure: Failure | null
  /** The step that is in progress. */
  running?: number | undefined
}

/** The fifteen steps, as far as the sign-in has come. */
export function stepsOf (progress: Progress): StepReport[] {
  const steps = LEGS.flatMap((actions, leg) =>
    actions.map(([actor, action]) => ({ leg, actor, action })))
  return steps.map(({ leg, actor, action }, at) => {
    const number = at + 1
    const report = reportOf(number, leg, progress)
    return { number, actor, action, outcome: 'waiting', note: '', ...report }
  })
}

function reportOf (number: number, leg: number, progress: Progress): Partial<StepReport> {
  const { exchanges, failure, running } = progress
  const exchange = exchanges[leg]
  if (number === failure?.step) {
    return { outcome: 'failed', note: failure.got, ...timed(exchanges.at(-1) as Exchange) }
  }
  if (exchange === undefined) return number === running ? { outcome: 'running' } : {}
  const hasFailed = failure !== null && leg === exchanges.length - 1
  if (hasFailed) return isProven(number, failure) ? { outcome: 'done' } : {}
  return { outcome: 'done', ...SHOWS.includes(number) && timed(exchange) }
}

/** Whether the failure proves that this earlier step succeeded. The others stay `waiting`. */
const isProven = (number: number, failure: Failure): boolean =>
  number < failure.step && (SENDS.includes(number) || LATE.includes(failure.error))

/** An exchange and its duration. Without a duration if a real browser got the response. */
function timed (exchange: Exchange): Partial<StepReport> {
  const { response, networkError, milliseconds } = exchange
  const isSeen = response !== undefined || networkError !== undefined
  return { exchange, ...isSeen && { milliseconds } }
}
