import type { StepReport } from '../../../flow/steps.ts'
import { exchangeDetails } from './exchange.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'

/** How an outcome looks, and how it is read out. */
const OUTCOMES: Record<string, [tone: string, mark: string, words: string]> = {
  waiting: ['', '', 'not reached'],
  running: ['wait', '…', 'in progress'],
  done: ['good', '✓', 'done'],
  failed: ['bad', '✕', 'failed'],
  expected: ['good', '✕', 'rejected as expected']
}

/** The fifteen steps. A rejection that a trial asked for is shown as a success. */
export const timeline = (steps: StepReport[], rejectionExpected: boolean): Html =>
  html`<ol>${steps.map((step) => row(step, rejectionExpected))}</ol>`

function row (step: StepReport, rejectionExpected: boolean): Html {
  const { number, actor, action, note, exchange } = step
  const outcome = step.outcome === 'failed' && rejectionExpected ? 'expected' : step.outcome
  const [tone, mark, words] = OUTCOMES[outcome] as [string, string, string]
  // 0: the response is not seen here, or at a later step.
  const { milliseconds = 0 } = exchange ?? {}
  const took = milliseconds === 0 ? '' : ` · ${Math.round(milliseconds)} ms`
  return html`<li class="step ${outcome}" value="${number}">
<span class="dot ${tone}"><span aria-hidden="true">${mark || number}</span><span class="hidden">${words}</span></span>
<p class="quiet">${number} · ${actor}<span class="took">${took}</span></p>
<p>${action}</p>
${note === '' ? null : html`<p class="quiet">${note}</p>`}
${exchange === undefined ? null : exchangeDetails(`step-${number}`, exchange)}
</li>`
}
