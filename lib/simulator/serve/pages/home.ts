import type { Integration } from '../../../testing/settings.ts'
import type { Attempt } from '../attempt.ts'
import { clockTime, conclusionOf } from '../conclusion.ts'
import type { Conclusion } from '../conclusion.ts'
import { TRIALS } from '../trials.ts'
import { fact, html } from './html.ts'
import type { Html } from './html.ts'
import { layout } from './layout.ts'

export interface Setup {
  portal: Integration
  /** Where a sign-in starts. */
  loginUrl: string
}

/** The first page: a button to sign in, the trials, this browser's sign-ins, and what the service needs. */
export function homePage ({ portal, loginUrl }: Setup, attempts: Attempt[]): string {
  return layout({
    title: 'Start',
    baseUrl: portal.base.href,
    body: html`<div class="lede">
<h1>Sign in to the portal</h1>
<p>This page plays the portal. It sends your browser to your service, redeems the code that comes back, and shows each
of the fifteen steps.</p>
<div class="actions"><a class="button main" href="${startPath(loginUrl)}">Sign in</a></div>
</div>
${attemptsCard(attempts)}${trialsCard(loginUrl)}${setupCard(portal, loginUrl)}`
  })
}

/** The invalid requests on offer. */
export function trialsCard (loginUrl: string): Html {
  return html`<section class="card" aria-labelledby="trials">
<h2 id="trials">Try invalid requests</h2>
<p class="quiet">A correct service rejects each of them.</p>
<ul>${TRIALS.map(({ id, title, does, rule }) => html`<li class="beside">
<div><h3>${title}</h3><p>${does}</p><p class="quiet">${rule.sentence}</p></div>
<a class="button" href="${startPath(loginUrl)}?trial=${id}" aria-label="Try: ${title}">Try</a>
</li>`)}</ul>
</section>`
}

export const startPath = (loginUrl: string): string => new URL(loginUrl).pathname

/** The class that colours an outcome. */
export const tone = (outcome: Conclusion['outcome']): string =>
  outcome === 'pass' ? 'good' : outcome === 'fail' ? 'bad' : 'wait'

function attemptsCard (attempts: Attempt[]): Html | null {
  if (attempts.length === 0) return null
  return html`<section class="card" aria-labelledby="attempts">
<h2 id="attempts">Sign-ins of this browser</h2>
<p class="quiet">Another browser sees its own, the terminal all of them.</p>
<ul>${attempts.map(attemptRow)}</ul>
</section>`
}

function attemptRow (attempt: Attempt): Html {
  const { id, trial, startedAt, isStuck } = attempt
  const { outcome, title } = conclusionOf(attempt)
  return html`<li class="beside"><span class="chip ${tone(outcome)}">${outcome}</span>
<div><a href="/sign-ins/${id}">${trial === null ? '' : `${trial.title}: `}${title}</a>
${isStuck ? ' (see the usual causes)' : ''}</div>
<span class="quiet">${clockTime(startedAt)}</span></li>`
}

function setupCard ({ clientId, redirectUri, level }: Integration, loginUrl: string): Html {
  return html`<section class="card" aria-labelledby="setup">
<h2 id="setup">What your service needs</h2>
<p class="quiet">Register the portal with these values, at the ${level} OAuth level.</p>
<dl>${fact('login_url', loginUrl)}${fact('client_id', clientId)}
${fact('client_secret', 'as given at the start')}${fact('redirect_uri', redirectUri)}</dl>
</section>`
}
