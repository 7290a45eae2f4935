import { firstWords } from '../../../flow/html.ts'
import type { StepReport } from '../../../flow/steps.ts'
import type { Exchange, Headers } from '../../../flow/wire.ts'
import { html } from './html.ts'

/** How an outcome looks, and how it is read out. */
const OUTCOMES = {
  waiting: ['', 'not reached'],
  running: ['…', 'in progress'],
  done: ['✓', 'done'],
  failed: ['✕', 'failed'],
  expected: ['✕', 'refused as expected']
}

/** The fifteen steps. The refusal that the trial asked for is shown as a success. */
export const timeline = (steps: StepReport[], rejectionExpected: boolean) =>
  html`<ol>${steps.map((step) => row(step, rejectionExpected))}</ol>`

function row (step: StepReport, rejectionExpected: boolean) {
  const { number, actor, action, note, exchange } = step
  const outcome = step.outcome === 'failed' && rejectionExpected ? 'expected' : step.outcome
  const [mark, words] = OUTCOMES[outcome]
  // 0: the response is not seen here, or at a later step.
  const took = exchange?.milliseconds
  return html`<li class="step" value="${number}">
<span class="dot ${outcome}">
<span aria-hidden="true">${mark || number}</span>
<span class="hidden">${words}</span>
</span>
<p class="quiet">${number} · ${actor}
<span class="took">${took && ` · ${Math.round(took)} ms`}</span></p>
<p>${action}</p>
<p class="quiet">${note}</p>
${exchange && exchangeDetails(`step-${number}`, exchange)}
</li>`
}

/**
 * An HTTP exchange that opens on demand: the request with a line for each parameter, the response with
 * its headers. Of the body of a response, which a service may fill with anything, its title or first
 * words.
 */
function exchangeDetails (id: string, { request, response, networkError }: Exchange) {
  const { method, url, headers, body = '' } = request
  const { pathname } = new URL(url)
  const target = `${method} ${url.replace(/[?&]/g, '\n  $&')}`
  return html`<details id="${id}">
<summary>${method} ${pathname}${response && ` → ${response.status}`}</summary>
<div class="wire">
<h3>Request</h3>
<pre>${message(target, headers, body.replaceAll('&', '\n&'))}</pre>
${response && html`<h3>Response</h3>
<pre>${message(String(response.status), response.headers, firstWords(response.body))}</pre>`}
${networkError && html`<h3>No response</h3>
<p>${networkError.sentence}</p>`}
</div>
</details>`
}

function message (first: string, headers: Headers, body: string): string {
  const lines = headers.map((header) => header.join(': '))
  return [first, ...lines, '', body].join('\n').trim()
}
