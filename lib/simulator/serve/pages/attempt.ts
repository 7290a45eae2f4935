import { type Failure } from '../../../testing/failure.ts'
import { type Step, STEPS } from '../../../testing/steps.ts'
import { type Cause } from '../causes.ts'
import { type AttemptView } from '../view.ts'
import { exchangeDetails } from './exchange.ts'
import { type Setup, startPath, tone, trialsCard } from './home.ts'
import { capital, html, type Html } from './html.ts'
import { layout } from './layout.ts'
import { recordCard } from './record.ts'
import { timeline } from './timeline.ts'

/**
 * One attempt: how it goes, what failed or who signed in, and its fifteen steps. What matters most comes first, for a
 * narrow screen and for a screen reader.
 */
export function attemptPage (setup: Setup, view: AttemptView, shown: boolean): string {
  const { ended, record, steps, outcome } = view
  return layout({
    title: view.title,
    baseUrl: setup.portal.base.href,
    reload: ended ? null : 2,
    body: html`<div id="live" data-ended="${String(ended)}" data-announced="${view.title}. ${view.sentence}">
${lede(setup, view)}
${causesCard(view.causes)}${problemCard(view.failure)}${servicePageCard(view)}
<div class="columns">
${stack('first', [probesCard(view), record === null ? null : recordCard(record, view.ignored, setup.portal.level)])}
<section class="card main" aria-labelledby="steps">
<div class="bar"><h2 id="steps">The fifteen steps</h2>${secretsLink(view.id, shown)}</div>
${timeline(steps, outcome === 'pass')}
</section>
${stack('last', [ended ? trialsCard(setup.loginUrl, true) : null])}
</div>
</div>`
  })
}

/** Cards below each other; nothing where there is no card. */
function stack (place: string, cards: Array<Html | null>): Html | null {
  const shown = cards.filter((card) => card !== null)
  return shown.length === 0 ? null : html`<div class="stack ${place}">${shown}</div>`
}

/** A page with a sentence, where there is no attempt to show. */
export function messagePage ({ portal, loginUrl }: Setup, title: string, sentence: string): string {
  return layout({
    title,
    baseUrl: portal.base.href,
    body: html`<div class="lede"><h1>${title}</h1><p>${sentence}</p>
<div class="actions"><a class="button main" href="${startPath(loginUrl)}">Sign in</a>
<a class="button" href="/">Start page</a></div></div>`
  })
}

function lede ({ loginUrl }: Setup, { trial, outcome, title, sentence, secondsLeft, ended }: AttemptView): Html {
  const [query, again] = trial === null ? ['', 'Sign in again'] : [`?trial=${trial.id}`, 'Try again']
  return html`<div class="lede">
<span class="chip ${tone(outcome)}">${trial === null ? 'Sign-in' : `Trial: ${trial.title}`}</span>
<h1>${title}</h1>
<p>${sentence}</p>
${secondsLeft === null ? null : html`<p class="countdown" id="countdown">${secondsLeft} s left</p>`}
${!ended
    ? null
    : html`<div class="actions">
<a class="button main" id="again" href="${startPath(loginUrl)}${query}">${again}</a>
<a class="button" id="home" href="/">Start page</a></div>`}
</div>`
}

/** For the developer whose browser does not come back from the service. */
function causesCard (causes: Cause[]): Html | null {
  if (causes.length === 0) return null
  return html`<section class="card wide" aria-labelledby="causes">
<h2 id="causes">The browser does not come back?</h2>
<p class="hint">Take your time if you are logging in. If not, compare what your browser shows with the usual
causes.</p>
<ul class="causes">${causes.map(({ title, sign, fix, seen }) => html`<li>
<h3>${title}${seen === null ? null : html` <span class="chip wait">Likely</span>`}</h3>
${seen === null ? null : html`<p><b>Seen by the simulator:</b> ${seen}</p>`}
<p><b>How to tell:</b> ${sign}</p>
<p><b>Fix:</b> ${fix}</p>
</li>`)}</ul>
</section>`
}

function problemCard (failure: Failure | null): Html | null {
  if (failure === null) return null
  const { step, error, expected, got, fix } = failure
  return html`<section class="card wide problem" aria-labelledby="problem">
<h2 id="problem">What went wrong</h2>
<p class="hint"><code>${error}</code></p>
<dl class="facts rows">
<div><dt>Step ${step}</dt><dd>${(STEPS[step - 1] as Step).action}</dd></div>
<div><dt>Expected</dt><dd>${capital(expected)}</dd></div>
<div><dt>Got</dt><dd>${capital(got)}</dd></div>
<div><dt>What to do</dt><dd>${fix}</dd></div>
</dl>
</section>`
}

/** The service's own error page, in a frame where it can run, load and send nothing. */
function servicePageCard ({ id, servicePage }: AttemptView): Html | null {
  if (servicePage === null) return null
  const url = `/sign-ins/${id}/service-page`
  return html`<section class="card wide" aria-labelledby="service-page">
<div class="bar"><h2 id="service-page">The page that your service shows</h2>
<a id="service-page-link" href="${url}" target="_blank" rel="noopener">Open alone</a></div>
<p class="hint">Status ${servicePage.status}. Scripts, links, forms and external files do not work in this copy.</p>
<iframe class="service-page" src="${url}" sandbox title="The page that your service shows" loading="lazy"></iframe>
</section>`
}

function probesCard ({ probes, trial }: AttemptView): Html | null {
  if (probes.length === 0 || trial === null) return null
  return html`<section class="card" aria-labelledby="probes">
<h2 id="probes">The trial</h2>
<p class="hint">${trial.expects}</p>
${probes.map(({ title, exchange }, at) => html`<p>${title}</p>${exchangeDetails(`probe-${at}`, exchange)}`)}
</section>`
}

function secretsLink (id: string, shown: boolean): Html {
  return shown
    ? html`<a id="secrets" href="/sign-ins/${id}">Hide codes and tokens</a>`
    : html`<a id="secrets" href="/sign-ins/${id}?secrets=shown">Show codes and tokens</a>`
}
