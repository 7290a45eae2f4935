import type { Secrets } from '../../../testing/masking.ts'
import type { StepReport } from '../../../testing/steps.ts'
import type { Exchange } from '../../../testing/wire.ts'
import { exchangeDetails } from './exchange.ts'
import { capital, html } from './html.ts'
import type { Html } from './html.ts'

const LEGS = [
  { title: 'The browser goes to the service and back', from: 1, to: 8 },
  { title: 'The portal exchanges the code for an access token', from: 9, to: 12 },
  { title: 'The portal exchanges the token for the user', from: 13, to: 15 }
]

/** How an outcome looks, and how it is read out. */
const OUTCOMES = {
  waiting: { tone: '', mark: '', words: 'not reached' },
  running: { tone: 'wait', mark: '…', words: 'in progress' },
  done: { tone: 'good', mark: '✓', words: 'done' },
  failed: { tone: 'bad', mark: '✕', words: 'failed' },
  expected: { tone: 'good', mark: '✕', words: 'rejected as expected' }
}

/** The fifteen steps. A rejection that a trial asked for is shown as a success. */
export function timeline (steps: StepReport[], secrets: Secrets, rejectionExpected: boolean): Html {
  return html`${LEGS.map(({ title, from, to }) => html`<div class="leg"><h3 class="small quiet">${title}</h3>
<ol start="${from}">${steps.slice(from - 1, to).map((step) => row(step, secrets, rejectionExpected))}</ol></div>`)}`
}

function row (step: StepReport, secrets: Secrets, rejectionExpected: boolean): Html {
  const { number, actor, action, note } = step
  const outcome = step.outcome === 'failed' && rejectionExpected ? 'expected' : step.outcome
  const { tone, mark, words } = OUTCOMES[outcome]
  const { exchange, milliseconds } = timed(step)
  const took = milliseconds === undefined ? '' : ` · ${Math.round(milliseconds)} ms`
  return html`<li class="step ${outcome}" value="${number}">
<span class="dot ${tone}"><span aria-hidden="true">${mark || number}</span><span class="hidden">${words}</span></span>
<p class="small quiet">${number} · ${actor}<span class="took">${took}</span></p>
<p>${action}</p>
${note === '' ? null : html`<p class="small quiet">${capital(secrets.mask(note))}</p>`}
${exchange === undefined ? null : exchangeDetails(`step-${number}`, exchange, secrets)}
</li>`
}

interface Sent { exchange: Exchange | undefined, milliseconds: number | undefined }

/** The step that sends a request shows the request; the step that returns the response shows both, and the time. */
function timed ({ number, outcome, exchange, milliseconds }: StepReport): Sent {
  const isSent = outcome === 'done' && (number === 9 || number === 13)
  if (exchange === undefined || !isSent) return { exchange, milliseconds }
  return { exchange: { request: exchange.request, milliseconds: 0 }, milliseconds: undefined }
}
