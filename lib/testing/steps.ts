import type { Failure } from './failure.ts'
import type { Reading } from './responses.ts'
import type { Integration } from './settings.ts'
import type { UserInformation } from '../user-information.ts'
import type { Exchange } from './wire.ts'

/** One step of the flow. */
export interface Step {
  /** 1 to 15. */
  number: number
  actor: 'Browser' | 'Portal' | 'Service'
  action: string
}

/** How far a step has come. A step after a failed one stays `waiting`. */
export type Outcome = 'waiting' | 'running' | 'done' | 'failed'

/** One of the fifteen steps of the flow, and what happened in it. */
export interface StepReport extends Step {
  outcome: Outcome
  /** What happened, in one sentence; empty where the action says it all. */
  note: string
  /** The HTTP exchange of the step, where it has one. */
  exchange?: Exchange
  /** Duration of the step's own exchange; absent where the step makes no call. */
  milliseconds?: number
}

const row = (number: number, actor: Step['actor'], action: string): Step => ({ number, actor, action })

/** The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end). */
export const STEPS: readonly Step[] = [
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

export type LegName = 'authorize' | 'redeem' | 'fetch'

/** A sign-in as far as it has come. */
export interface Legs {
  /** Steps 1 to 4: the request that the browser was sent with. */
  sent?: Exchange
  /** Steps 5 to 8: the code. */
  authorize?: Leg<string>
  /** Steps 9 to 12: the access token. */
  redeem?: Leg<string>
  /** Steps 13 to 15: the record. */
  fetch?: Leg<UserInformation>
  /** What is under way, and what it waits for. */
  running?: { leg: LegName, note: string }
}

type Reports = Record<number, Omit<StepReport, keyof Step>>

const done = (note = '', exchange?: Exchange) => ({ outcome: 'done' as const, note, ...timed(exchange) })

/** The reports of a leg that succeeded. */
const SUCCESS = {
  authorize: (exchange: Exchange): Reports => ({
    5: done(),
    6: done(),
    7: done('The browser came back with a code.', exchange),
    8: done('The state is the one that was sent.')
  }),
  redeem: (exchange: Exchange): Reports => ({
    9: done('', exchange), 10: done(), 11: done(), 12: done('An access token came back.', exchange)
  }),
  fetch: (exchange: Exchange): Reports => ({
    13: done('', exchange), 14: done(), 15: done('The user information came back and keeps the rules.', exchange)
  })
}
const FIRST = { authorize: 5, redeem: 9, fetch: 13 }

/** Steps that an error shows to have succeeded. */
const PROVEN: Record<string, number[]> = {
  no_code: [5, 6],
  state_mismatch: [5, 6, 7],
  malformed_token: [10, 11],
  malformed_record: [14]
}

/** The fifteen steps of a sign-in that has come as far as its legs. */
export function stepsOf (portal: Integration, legs: Legs): StepReport[] {
  const { authorize, redeem, fetch, running } = legs
  const reports: Reports = {
    ...legs.sent === undefined ? {} : sent(portal, legs.sent),
    ...reportsOf('authorize', authorize),
    ...reportsOf('redeem', redeem),
    ...reportsOf('fetch', fetch),
    ...running === undefined ? {} : { [FIRST[running.leg]]: { outcome: 'running', note: running.note } }
  }
  return STEPS.map((step) => ({ ...step, outcome: 'waiting', note: '', ...reports[step.number] }))
}

function sent ({ clientId, authorizeUrl }: Integration, exchange: Exchange): Reports {
  return {
    1: done(),
    2: done(`The integration of client_id ${clientId} was found.`),
    3: done('A session was created, with a state of 256 random bits.'),
    4: done(`The browser was sent to ${authorizeUrl}.`, exchange)
  }
}

function reportsOf (name: LegName, leg?: Leg<unknown>): Reports {
  if (leg === undefined) return {}
  return leg.reading.ok ? SUCCESS[name](leg.exchange) : failed(name, leg.reading, leg.exchange)
}

/** Of the steps before the failed one, those that the failure proves are done; the others stay open. */
function failed (name: LegName, { step, error, got }: Failure, exchange: Exchange): Reports {
  const proven = [...name === 'authorize' ? [] : [FIRST[name]], ...PROVEN[error] ?? []]
  return {
    ...Object.fromEntries(proven.map((number) => [number, done()])),
    [step]: { outcome: 'failed', note: got, ...timed(exchange) }
  }
}

function timed (exchange?: Exchange): Partial<StepReport> {
  if (exchange === undefined) return {}
  const seen = exchange.response !== undefined || exchange.networkError !== undefined
  return seen ? { exchange, milliseconds: exchange.milliseconds } : { exchange }
}
