import { type StepReport } from '../../../testing/timeline.ts'
import { exchangeDetails } from './exchange.ts'
import { capital, html, type Html } from './html.ts'

const LEGS = [
  { title: 'The browser goes to the service and back', from: 1, to: 8 },
  { title: 'The code becomes an access token', from: 9, to: 12 },
  { title: 'The token becomes a user', from: 13, to: 15 }
]

const CHECK = html`<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m3.5 8.5 3 3 6-7"/></svg>`
const CROSS = html`<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true"><path d="m4 4 8 8m0-8-8 8"/></svg>`
const SAID = { waiting: 'not reached', running: 'under way', done: 'done', failed: 'failed' }

/** The fifteen steps; a refusal that a trial asked for is shown as what it is, a success. */
export function timeline (steps: StepReport[], refusalExpected: boolean): Html {
  return html`${LEGS.map(({ title, from, to }) => html`<div class="leg"><h3>${title}</h3><ol start="${from}">${steps.slice(from - 1, to).map((step) => row(step, refusalExpected))}</ol></div>`)}`
}

function row (step: StepReport, refusalExpected: boolean): Html {
  const { number, actor, action, outcome, note, milliseconds } = step
  const expected = outcome === 'failed' && refusalExpected
  return html`<li class="step ${expected ? 'expected' : outcome}" value="${number}">
<span class="dot">${mark(step)}<span class="hidden"> Step ${number}, ${expected ? 'refused as expected' : SAID[outcome]}</span></span>
<p class="actor">${number} · ${actor}</p>
<span class="took">${milliseconds === undefined || onlyAsked(step) ? null : duration(milliseconds)}</span>
<div class="told"><p class="what">${action}</p>
${note === '' ? null : html`<p class="note">${capital(note)}</p>`}${details(step)}</div>
</li>`
}

function mark ({ number, outcome }: StepReport): Html {
  if (outcome === 'done') return CHECK
  return outcome === 'failed' ? CROSS : html`<span aria-hidden="true">${number}</span>`
}

/** The request stands at the step that sent it, the response at the step that gave it; a failed step shows both. */
function details (step: StepReport): Html | null {
  if (step.exchange === undefined) return null
  const { response, ...asked } = step.exchange
  return exchangeDetails(`step-${step.number}`, onlyAsked(step) ? asked : step.exchange)
}

const onlyAsked = ({ number, outcome }: StepReport): boolean => outcome === 'done' && (number === 9 || number === 13)

/** 12.3 ms, 4.2 s. */
export function duration (milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}
