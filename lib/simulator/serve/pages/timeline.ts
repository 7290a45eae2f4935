import type { StepReport } from '../../../flow/steps.ts'
import { exchangeDetails } from './exchange.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'

/** How an outcome looks, and how it is read out. */
const OUTCOMES = {
  waiting: { tone: '', mark: '', words: 'not reached' },
  running: { tone: 'wait', mark: '…', words: 'in progress' },
  done: { tone: 'good', mark: '✓', words: 'done' },
  failed: { tone: 'bad', mark: '✕', words: 'failed' },
  expected: { tone: 'good', mark: '✕', words: 'rejected as expected' }
}

/** The fifteen steps. A rejection that a trial asked for is shown as a success. */
export const timeline = (steps: StepReport[], rejectionExpected: boolean): Html =>
  html`<ol>${steps.map((step) => row(onlySent(step), rejectionExpected))}</ol>`

function row (step: StepReport, rejectionExpected: boolean): Html {
  const { number, actor, action, note, exchange, milliseconds } = step
  const outcome = step.outcome === 'failed' && rejectionExpected ? 'expected' : step.outcome
  const { tone, mark, words } = OUTCOMES[outcome]
  const took = milliseconds === undefined ? '' : ` · ${Math.round(milliseconds)} ms`
  return html`<li class="step ${outcome}" value="${number}">
<span class="dot ${tone}"><span aria-hidden="true">${mark || number}</span><span class="hidden">${words}</span></span>
<p class="quiet">${number} · ${actor}<span class="took">${took}</span></p>
<p>${action}</p>
${note === '' ? null : html`<p class="quiet">${note}</p>`}
${exchange === undefined ? null : exchangeDetails(`step-${number}`, exchange)}
</li>`
}

/** Steps 9 and 13 send a request: response and time are shown at the step that returns them. */
function onlySent (step: StepReport): StepReport {
  const { exchange, milliseconds, ...others } = step
  if (exchange === undefined || step.outcome !== 'done' || ![9, 13].includes(step.number)) {
    return step
  }
  return { ...others, exchange: { request: exchange.request, milliseconds: 0 } }
}
