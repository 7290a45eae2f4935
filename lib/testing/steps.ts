import type { Reading } from './responses.ts'
import type { UserInformation } from '../user-information.ts'
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

const row = (number: number, actor: StepReport['actor'], action: string): StepReport =>
  ({ number, actor, action, outcome: 'waiting', note: '' })

/** The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end). */
export const STEPS: readonly StepReport[] = [
  row(1, 'Browser', 'User is sent to the portal’s start URL, which ends with the credentials identifier.'),
  row(2, 'Portal', 'Finds its OAuth configuration by the credentials identifier.'),
  row(3, 'Portal', 'Creates a session and stores a random state in it, on the server only.'),
  row(4, 'Portal', 'Redirects the browser to GET /oauth/authorize.'),
  row(5, 'Service', 'Makes sure the user is logged in and may use the portal.'),
  row(6, 'Service', 'Validates client_id and redirect_uri.'),
  row(7, 'Service', 'Redirects the browser to the portal with a code and the same state.'),
  row(8, 'Portal', 'Compares the state from the redirect with the one in the session.'),
  row(9, 'Portal', 'Calls POST /oauth/token with its credentials and the code.'),
  row(10, 'Service', 'Validates the code: single use, only at this step.'),
  row(11, 'Service', 'Validates the client credentials.'),
  row(12, 'Service', 'Returns an access token, linked to the user of the code.'),
  row(13, 'Portal', 'Calls GET /oauth/user with the access token.'),
  row(14, 'Service', 'Validates the access token: single use, only at this step.'),
  row(15, 'Service', 'Returns the user information.')
]

/** A part of a sign-in that one exchange decides, and what the portal reads in its response. */
export interface Leg<Value> {
  exchange: Exchange
  reading: Reading<Value>
}

/** A sign-in as far as it has come. */
export interface Legs {
  /** Steps 1 to 4: the request that the browser was sent with. */
  sent?: Leg<string>
  /** Steps 5 to 8: the code. */
  authorize?: Leg<string>
  /** Steps 9 to 12: the access token. */
  redeem?: Leg<string>
  /** Steps 13 to 15: the record. */
  fetch?: Leg<UserInformation>
  /** What is under way. */
  running?: LegName
}

export type LegName = 'sent' | 'authorize' | 'redeem' | 'fetch'

/** The steps of a leg, and those of them that show its exchange. */
const LEGS: Record<LegName, { steps: number[], shown: number[] }> = {
  sent: { steps: [1, 2, 3, 4], shown: [4] },
  authorize: { steps: [5, 6, 7, 8], shown: [7] },
  redeem: { steps: [9, 10, 11, 12], shown: [9, 12] },
  fetch: { steps: [13, 14, 15], shown: [13, 15] }
}

/** Steps that an error shows to have succeeded, besides those of earlier legs and the portal's own request. */
const PROVEN: Record<string, number[]> = {
  no_code: [5, 6],
  state_mismatch: [5, 6, 7],
  malformed_token: [10, 11],
  malformed_record: [14]
}

type Reports = Record<number, Partial<StepReport>>

/** The fifteen steps of a sign-in that has come as far as its legs. */
export function stepsOf ({ running, ...legs }: Legs): StepReport[] {
  const started = running === undefined ? [] : LEGS[running].steps.slice(0, 1)
  const reports: Reports = Object.assign({},
    ...Object.entries(legs).map(([name, leg]) => reportsOf(name as LegName, leg)),
    ...started.map((number) => ({ [number]: { outcome: 'running' } })))
  return STEPS.map((step) => ({ ...step, ...reports[step.number] }))
}

/** Of the steps before a failed one, those that the failure proves are done; the others stay open. */
function reportsOf (name: LegName, { exchange, reading }: Leg<unknown>): Reports {
  const { steps, shown } = LEGS[name]
  if (reading.ok) return done(steps, shown, exchange)
  const { step, error, got } = reading
  const sent = name === 'authorize' ? [] : steps.slice(0, 1)
  const proven = done([...sent, ...PROVEN[error] ?? []], [], exchange)
  return { ...proven, [step]: { outcome: 'failed', note: got, ...timed(exchange) } }
}

const done = (numbers: number[], shown: number[], exchange: Exchange): Reports =>
  Object.fromEntries(numbers.map((number) =>
    [number, { outcome: 'done', ...shown.includes(number) ? timed(exchange) : {} }]))

/** No time where the response was not seen: a browser got it. */
function timed (exchange: Exchange): Partial<StepReport> {
  const { response, networkError, milliseconds } = exchange
  return { exchange, ...response === undefined && networkError === undefined ? {} : { milliseconds } }
}
