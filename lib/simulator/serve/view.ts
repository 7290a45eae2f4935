import { unlistedFields } from '../../user-information.ts'
import { type Failure } from '../../testing/failure.ts'
import { type Integration } from '../../testing/settings.ts'
import { type StepReport, stepsOf } from '../../testing/steps.ts'
import { type Exchange } from '../../testing/wire.ts'
import { type UserInformation } from '../../user-information.ts'
import { type Attempt } from './attempt.ts'
import { type Cause, usualCauses } from './causes.ts'
import { hideClientSecret } from './client-secret.ts'
import { readExchange, type ExchangeView } from './exchange.ts'
import { type Conclusion } from './trials.ts'

/** A browser that is away for longer may be stuck, in milliseconds. */
const LONG = 5000

export interface StepView extends Omit<StepReport, 'exchange'> {
  exchange: ExchangeView | null
}

/** What the pages show of an attempt. The client secret is in none of its texts. */
export interface AttemptView {
  id: string
  startedAt: Date
  trial: { id: string, title: string, expects: string } | null
  ended: boolean
  /** Null while the attempt goes on. */
  outcome: Conclusion['outcome'] | null
  title: string
  sentence: string
  secondsLeft: number | null
  failure: Failure | null
  steps: StepView[]
  probes: Array<{ title: string, exchange: ExchangeView }>
  record: UserInformation | null
  /** Fields of the record that the portal does not know. */
  ignored: string[]
  /** Status of the service's own error page, and the page; null where it sent none. */
  servicePage: { status: number, body: string } | null
  /** Usual causes for a browser that does not come back; empty while there is no reason to show them. */
  causes: Cause[]
}

/**
 * @param shown - whether codes, tokens and the state are readable; the client secret never is
 */
export async function viewOf (portal: Integration, attempt: Attempt, shown: boolean): Promise<AttemptView> {
  const stuck = Number(attempt.away) >= LONG
  const causes = stuck ? usualCauses(portal, await attempt.loggedOut()) : []
  const { startedAt, ...rest } = { ...readAttempt(attempt, shown), causes }
  return { startedAt, ...hideClientSecret(portal)(rest) }
}

function readAttempt (attempt: Attempt, shown: boolean): Omit<AttemptView, 'causes'> {
  const { flow, conclusion, servicePage } = attempt
  const visible = (exchange: Exchange): ExchangeView =>
    readExchange(shown ? exchange : flow.secrets.maskExchange(exchange))
  return {
    id: attempt.id,
    startedAt: attempt.startedAt,
    trial: attempt.trial,
    ended: attempt.ended,
    outcome: conclusion?.outcome ?? null,
    title: conclusion?.title ?? progress(attempt),
    sentence: conclusion?.sentence ?? progressSentence(attempt),
    secondsLeft: attempt.secondsLeft,
    failure: conclusion?.outcome === 'pass' ? null : flow.failure,
    steps: stepsOf(flow.portal, flow.legs).map((step) => readStep(step, flow.secrets.mask(step.note), visible)),
    probes: attempt.probes.map(({ title, exchange }) => ({ title, exchange: visible(exchange) })),
    record: flow.record,
    ignored: flow.record === null ? [] : unlistedFields({ ...flow.record }),
    servicePage: servicePage === null ? null : { status: servicePage.status, body: servicePage.body }
  }
}

/** The request is shown at the step that sends it, the response at the step that returns it. */
function readStep (step: StepReport, note: string, read: (exchange: Exchange) => ExchangeView): StepView {
  const { exchange, milliseconds, ...rest } = step
  if (exchange === undefined) return { ...rest, ...timed(milliseconds), note, exchange: null }
  const sends = step.outcome === 'done' && (step.number === 9 || step.number === 13)
  if (!sends) return { ...rest, ...timed(milliseconds), note, exchange: read(exchange) }
  return { ...rest, note, exchange: read({ request: exchange.request, milliseconds: 0 }) }
}

const timed = (milliseconds: number | undefined): { milliseconds?: number } =>
  milliseconds === undefined ? {} : { milliseconds }

function progress (attempt: Attempt): string {
  if (attempt.secondsLeft !== null) return 'Waiting until the code has expired'
  return attempt.away === null ? 'In progress' : 'Waiting for your service'
}

function progressSentence (attempt: Attempt): string {
  if (attempt.away !== null) return 'The browser is at your service. This page continues when it comes back.'
  const running = attempt.flow.steps().find(({ outcome }) => outcome === 'running')
  return running === undefined || running.note === '' ? 'The next step is in progress.' : running.note
}
