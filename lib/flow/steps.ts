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

interface Step extends Pick<StepReport, 'actor' | 'action'> {
  /** Which of the four legs it belongs to, from 0. */
  leg: number
  /** Its report has the exchange of the leg. */
  shows?: true
  /** The portal’s own request: it succeeded where its leg has an exchange. */
  sends?: true
}

/** The fifteen steps of a sign-in (RFC 6749 §4.1, with the user request at the end). */
const STEPS: readonly Step[] = [
  {
    leg: 0,
    actor: 'Browser',
    action: 'User is sent to the portal’s start URL, which ends with the credentials identifier.'
  },
  {
    leg: 0,
    actor: 'Portal',
    action: 'Finds its OAuth configuration by the credentials identifier.'
  },
  {
    leg: 0,
    actor: 'Portal',
    action: 'Creates a session and stores a random state in it, on the server only.'
  },
  {
    leg: 0,
    actor: 'Portal',
    shows: true,
    action: 'Redirects the browser to GET /oauth/authorize.'
  },
  {
    leg: 1,
    actor: 'Service',
    action: 'Makes sure the user is logged in and may use the portal.'
  },
  {
    leg: 1,
    actor: 'Service',
    action: 'Validates client_id and redirect_uri.'
  },
  {
    leg: 1,
    actor: 'Service',
    shows: true,
    action: 'Redirects the browser to the portal with a code and the same state.'
  },
  {
    leg: 1,
    actor: 'Portal',
    action: 'Compares the state from the redirect with the one in the session.'
  },
  {
    leg: 2,
    actor: 'Portal',
    shows: true,
    sends: true,
    action: 'Calls POST /oauth/token with its credentials and the code.'
  },
  {
    leg: 2,
    actor: 'Service',
    action: 'Validates the code: single use, only at this step.'
  },
  {
    leg: 2,
    actor: 'Service',
    action: 'Validates the client credentials.'
  },
  {
    leg: 2,
    actor: 'Service',
    shows: true,
    action: 'Returns an access token, linked to the user of the code.'
  },
  {
    leg: 3,
    actor: 'Portal',
    shows: true,
    sends: true,
    action: 'Calls GET /oauth/user with the access token.'
  },
  {
    leg: 3,
    actor: 'Service',
    action: 'Validates the access token: single use, only at this step.'
  },
  {
    leg: 3,
    actor: 'Service',
    shows: true,
    action: 'Returns the user information.'
  }
]

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
export const stepsOf = (progress: Progress): StepReport[] => STEPS.map((step, at) => {
  const { actor, action } = step
  const number = at + 1
  return {
    number, actor, action, outcome: 'waiting', note: '', ...reportOf(number, step, progress)
  }
})

function reportOf (number: number, step: Step, progress: Progress): Partial<StepReport> {
  const { exchanges, failure, running } = progress
  const exchange = exchanges[step.leg]
  if (number === failure?.step) {
    return { outcome: 'failed', note: failure.got, ...timed(exchanges.at(-1) as Exchange) }
  }
  if (exchange === undefined) return number === running ? { outcome: 'running' } : {}
  const hasFailed = failure !== null && step.leg === exchanges.length - 1
  if (hasFailed) return isProven(number, step, failure) ? { outcome: 'done' } : {}
  return { outcome: 'done', ...step.shows === true ? timed(exchange) : {} }
}

/** Whether the failure proves that this earlier step succeeded. The others stay `waiting`. */
const isProven = (number: number, { sends }: Step, failure: Failure): boolean =>
  number < failure.step && (sends === true || LATE.includes(failure.error))

/** An exchange and its duration. Without a duration if a real browser got the response. */
function timed (exchange: Exchange): Partial<StepReport> {
  const { response, networkError, milliseconds } = exchange
  return {
    exchange,
    ...response === undefined && networkError === undefined
      ? {}
      : { milliseconds }
  }
}
