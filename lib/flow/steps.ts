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

/** One of the fifteen steps as the protocol has it. */
interface Step {
  actor: StepReport['actor']
  action: string
  /** Which of the four exchanges it shows: the page, the browser's return, the token, the record. */
  shows?: 0 | 1 | 2 | 3
  /** It sends the request of that exchange: the response is at a later step. */
  isRequest?: true
  /** An exchange ends with it: the next one begins after it. */
  endsExchange?: true
  /** It is done where any later step fails. Of the other steps that is not known. */
  isCertain?: true
}

/** The fifteen steps of a sign-in (RFC 6749 section 4.1, with the user request at the end). */
const STEPS: readonly Step[] = [
  { actor: 'Browser', action: 'User is sent to the portal’s start URL, which ends with the credentials identifier.' },
  { actor: 'Portal', action: 'Finds its OAuth configuration by the credentials identifier.' },
  {
    actor: 'Portal',
    action: 'Creates a session and stores a random state in it, on the server only.',
    isCertain: true
  },
  {
    actor: 'Portal',
    action: 'Redirects the browser to GET /oauth/authorize.',
    shows: 0,
    endsExchange: true,
    isCertain: true
  },
  { actor: 'Service', action: 'Makes sure the user is logged in and may use the portal.' },
  { actor: 'Service', action: 'Validates client_id and redirect_uri.' },
  { actor: 'Service', action: 'Redirects the browser to the portal with a code and the same state.', shows: 1 },
  {
    actor: 'Portal',
    action: 'Compares the state from the redirect with the one in the session.',
    endsExchange: true,
    isCertain: true
  },
  {
    actor: 'Portal',
    action: 'Calls POST /oauth/token with its credentials and the code.',
    shows: 2,
    isRequest: true,
    isCertain: true
  },
  { actor: 'Service', action: 'Validates the code: single use, only at this step.' },
  { actor: 'Service', action: 'Validates the client credentials.' },
  {
    actor: 'Service',
    action: 'Returns an access token, linked to the user of the code.',
    shows: 2,
    endsExchange: true,
    isCertain: true
  },
  {
    actor: 'Portal',
    action: 'Calls GET /oauth/user with the access token.',
    shows: 3,
    isRequest: true,
    isCertain: true
  },
  { actor: 'Service', action: 'Validates the access token: single use, only at this step.' },
  { actor: 'Service', action: 'Returns the user information.', shows: 3, endsExchange: true, isCertain: true }
]

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
  return STEPS.map(({ actor, action, shows, isRequest }, at) => {
    const number = at + 1
    const step = { number, actor, action, note: '' }
    if (number === failure?.step) {
      return { ...step, outcome: 'failed', note: failure.got, exchange: exchanges.at(-1) }
    }
    if (number > done) {
      return { ...step, outcome: number === running ? 'running' : 'waiting' }
    }
    const exchange = shows === undefined ? undefined : exchanges[shows]
    const sent = exchange && { request: exchange.request, milliseconds: 0 }
    return { ...step, outcome: 'done', exchange: isRequest ? sent : exchange }
  })
}

/** The number of the last step that is known to be done; 0 where none is. */
function lastDone ({ exchanges, failure }: Progress): number {
  if (failure === null) return numbersOf('endsExchange')[exchanges.length - 1] ?? 0
  if (LATE.includes(failure.error)) return failure.step - 1
  return Math.max(...numbersOf('isCertain').filter((number) => number < failure.step))
}

/** The numbers of the steps that have a property. */
const numbersOf = (property: 'endsExchange' | 'isCertain'): number[] =>
  STEPS.flatMap((step, at) => step[property] ? at + 1 : [])
