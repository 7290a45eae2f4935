import { type Attempt } from '../attempt.ts'
import { type Failure } from '../../../testing/failure.ts'
import { type Step, STEPS } from '../../../testing/steps.ts'
import { exchangeDetails } from './exchange.ts'
import { standing, startPath, tone, trialsCard, type Setup } from './home.ts'
import { capital, html, type Html } from './html.ts'
import { layout } from './layout.ts'
import { recordCard } from './record.ts'
import { timeline } from './timeline.ts'

/** One attempt: how it stands, what failed or who signed in, and its fifteen steps. */
export function attemptPage (setup: Setup, attempt: Attempt, shown: boolean): string {
  const { flow, ended, conclusion } = attempt
  const fine = conclusion?.fine === true
  return layout({
    title: standing(attempt),
    baseUrl: setup.portal.base.href,
    reload: ended ? null : 2,
    body: html`<div id="live" data-ended="${String(ended)}" data-said="${said(attempt)}">
${lede(setup, attempt)}
<div class="columns">
<div class="stack">
${fine || flow.failure === null ? null : problemCard(flow.failure)}
<section class="card" aria-labelledby="steps">
<div class="bar"><h2 id="steps">The fifteen steps</h2>${secretsLink(attempt, shown)}</div>
${timeline(shown ? flow.timeline.reports : flow.steps(), fine)}
</section>
</div>
<div class="stack">
${probesCard(attempt, shown)}${flow.record === null ? null : recordCard(flow.record, setup.portal.level)}${ended ? trialsCard(setup.loginUrl, true) : null}
</div>
</div>
</div>`
  })
}

/** A page with a sentence, where there is no attempt to show. */
export function messagePage ({ portal, loginUrl }: Setup, title: string, sentence: string): string {
  return layout({
    title,
    baseUrl: portal.base.href,
    body: html`<div class="lede"><h1>${title}</h1><p>${sentence}</p><div class="actions"><a class="button main" href="${startPath(loginUrl)}">Sign in</a><a class="button" href="/">Start page</a></div></div>`
  })
}

function lede ({ loginUrl }: Setup, attempt: Attempt): Html {
  const query = attempt.trial === null ? '' : `?trial=${attempt.trial.id}`
  return html`<div class="lede">
<span class="chip ${tone(attempt)}">${attempt.trial === null ? 'Sign-in' : `Trial: ${attempt.trial.title}`}</span>
<h1>${standing(attempt)}</h1>
<p>${sentence(attempt)}</p>
${attempt.ended ? html`<div class="actions"><a class="button main" id="again" href="${startPath(loginUrl)}${query}">${attempt.trial === null ? 'Sign in again' : 'Try again'}</a><a class="button" id="home" href="/">Start page</a></div>` : null}
</div>`
}

function sentence ({ conclusion, flow }: Attempt): string {
  if (conclusion !== null) return conclusion.sentence
  const running = flow.timeline.reports.find(({ outcome }) => outcome === 'running')
  if (running === undefined) return 'The next step is under way.'
  if (running.number === 5) return 'The browser is at your service. If it shows an error there, its log says why; this page goes on when the browser comes back.'
  return running.note
}

const said = (attempt: Attempt): string => `${standing(attempt)}. ${sentence(attempt)}`

function problemCard ({ step, error, expected, got, fix }: Failure): Html {
  return html`<section class="card problem" aria-labelledby="problem">
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

function probesCard ({ probes, flow, trial }: Attempt, shown: boolean): Html | null {
  if (probes.length === 0 || trial === null) return null
  return html`<section class="card" aria-labelledby="probes">
<h2 id="probes">The trial</h2>
<p class="hint">${trial.expects}</p>
${probes.map(({ title, exchange }, at) => html`<p>${title}</p>${exchangeDetails(`probe-${at}`, shown ? exchange : flow.secrets.maskExchange(exchange))}`)}
</section>`
}

function secretsLink ({ id }: Attempt, shown: boolean): Html {
  return shown ? html`<a id="secrets" href="/sign-ins/${id}">Hide secrets</a>` : html`<a id="secrets" href="/sign-ins/${id}?secrets=shown">Show secrets</a>`
}
