import { Inconclusive } from '../../rules/errors.ts'
import type { Finding } from '../../rules/run-rules.ts'
import type { Attempt } from '../attempt.ts'
import { conclusionOf } from '../conclusion.ts'
import type { Conclusion } from '../conclusion.ts'
import { exchangeDetails } from './exchange.ts'
import { startPath, tone, trialsCard } from './home.ts'
import type { Setup } from './home.ts'
import { capital, fact, html } from './html.ts'
import type { Html } from './html.ts'
import { layout } from './layout.ts'
import { recordCard } from './record.ts'
import { timeline } from './timeline.ts'

/**
 * One attempt: how it goes, what failed or who signed in, and its fifteen steps. What matters most comes first, for a
 * narrow screen and for a screen reader.
 */
export async function attemptPage (setup: Setup, attempt: Attempt): Promise<string> {
  const { ended, isStuck, signIn } = attempt
  const { portal, loginUrl } = setup
  const conclusion = conclusionOf(attempt)
  return layout({
    title: conclusion.title,
    baseUrl: portal.base.href,
    inProgress: !ended,
    body: html`<div id="live" data-ended="${String(ended)}">
${lede(loginUrl, attempt, conclusion)}
${isStuck ? loginCard(await attempt.loginFindings()) : null}${problemCard(attempt)}
<div class="columns">
${trialCard(attempt)}${signIn.record === null ? null : recordCard(signIn.record, portal.level, signIn.secrets)}
<section class="card main" aria-labelledby="steps">
<h2 id="steps">The fifteen steps</h2>
${timeline(signIn.steps(), conclusion.outcome === 'pass')}
</section>
${ended ? trialsCard(loginUrl) : null}
</div>
</div>`
  })
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

function lede (loginUrl: string, attempt: Attempt, { outcome, title, sentence }: Conclusion): Html {
  const { trial, ended } = attempt
  return html`<div class="lede">
<span class="chip ${tone(outcome)}">${trial === null ? 'Sign-in' : `Trial: ${trial.title}`}</span>
<h1>${title}</h1>
<p>${sentence}</p>
${ended ? actions(startPath(loginUrl), attempt) : null}
</div>`
}

function actions (start: string, { trial, loginPage }: Attempt): Html {
  const again = trial === null ? start : `${start}?trial=${trial.id}`
  const other = `${again}${trial === null ? '?' : '&'}login`
  return html`<div class="actions">
<a class="button main" href="${again}">${trial === null ? 'Sign in again' : 'Try again'}</a>
${loginPage === null ? null : html`<a class="button" href="${other}">Log in as someone else</a>`}
<a class="button" href="/">Start page</a></div>`
}

const WORDS = { pass: 'passes', fail: 'fails', untested: 'not tested' }

/** For the developer whose browser does not come back from the service: what `check` says of the login. */
function loginCard (findings: Finding[]): Html {
  return html`<section class="card" aria-labelledby="causes">
<h2 id="causes">The browser does not come back?</h2>
<p class="quiet">Take your time if you are logging in. If not: rules of <code>check</code>, without a user.</p>
<ul>${findings.map((finding) => html`<li>${findingOf(finding)}</li>`)}</ul>
</section>`
}

/** What came of a rule. */
function findingOf ({ rule, result, error }: Finding): Html {
  const { fix } = { ...rule, ...result, ...error instanceof Inconclusive ? error : {} }
  return html`<h3>${rule.sentence} <span class="chip ${tone(result.outcome)}">${WORDS[result.outcome]}</span></h3>
${result.outcome === 'fail' ? html`<p><b>Got:</b> ${capital(result.got)}</p>` : null}
${result.outcome === 'untested' ? html`<p>Not tested: ${result.reason}</p>` : null}
${result.outcome === 'pass' ? null : html`<p><b>What to do:</b> ${fix}</p>`}`
}

/** Where a trial has a finding, that says it. */
function problemCard ({ finding, signIn: { failure } }: Attempt): Html | null {
  if (finding !== null || failure === null) return null
  const { error, expected, got, fix } = failure
  return html`<section class="card problem" aria-labelledby="problem">
<h2 id="problem">What went wrong</h2>
<p><code>${error}</code></p>
<dl>${fact('Expected', capital(expected))}${fact('Got', capital(got))}${fact('What to do', fix)}</dl>
</section>`
}

/** What a trial found, and what was sent for it. */
function trialCard ({ trial, finding, exchanges, signIn: { secrets } }: Attempt): Html | null {
  if (trial === null) return null
  return html`<section class="card" aria-labelledby="trial">
<h2 id="trial">The trial</h2>
<p class="quiet">${trial.does}</p>
<div>${finding === null ? null : findingOf(finding)}</div>
${exchanges.map((exchange, at) => exchangeDetails(`trial-${at + 1}`, secrets.maskExchange(exchange)))}
</section>`
}
