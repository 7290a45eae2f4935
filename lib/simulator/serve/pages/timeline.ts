import { type StepView } from '../view.ts'
import { exchangeDetails } from './exchange.ts'
import { capital, html, type Html } from './html.ts'

const LEGS = [
  { title: 'The browser goes to the service and back', from: 1, to: 8 },
  { title: 'The portal exchanges the code for an access token', from: 9, to: 12 },
  { title: 'The portal exchanges the token for the user', from: 13, to: 15 }
]

const icon = (path: Html): Html => html`<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="2.2"
 stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`
const CHECK = icon(html`<path d="m3.5 8.5 3 3 6-7"/>`)
const CROSS = icon(html`<path d="m4 4 8 8m0-8-8 8"/>`)
const IN_WORDS = { waiting: 'not reached', running: 'in progress', done: 'done', failed: 'failed' }

/** The fifteen steps. A rejection that a trial asked for is shown as a success. */
export function timeline (steps: StepView[], rejectionExpected: boolean): Html {
  return html`${LEGS.map(({ title, from, to }) => html`<div class="leg"><h3>${title}</h3>
<ol start="${from}">${steps.slice(from - 1, to).map((step) => row(step, rejectionExpected))}</ol></div>`)}`
}

function row (step: StepView, rejectionExpected: boolean): Html {
  const { number, actor, action, outcome, note, milliseconds, exchange } = step
  const expected = outcome === 'failed' && rejectionExpected
  const details = exchange === null ? null : exchangeDetails(`step-${number}`, exchange)
  const state = expected ? 'rejected as expected' : IN_WORDS[outcome]
  return html`<li class="step ${expected ? 'expected' : outcome}" value="${number}">
<span class="dot">${mark(step)}<span class="hidden"> Step ${number}, ${state}</span></span>
<p class="actor">${number} · ${actor}</p>
<span class="took">${milliseconds === undefined ? null : duration(milliseconds)}</span>
<div class="told"><p class="what">${action}</p>
${note === '' ? null : html`<p class="note">${capital(note)}</p>`}${details}</div>
</li>`
}

function mark ({ number, outcome }: StepView): Html {
  if (outcome === 'done') return CHECK
  return outcome === 'failed' ? CROSS : html`<span aria-hidden="true">${number}</span>`
}

/** 12 ms, 4.2 s. */
export function duration (milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}
