import type { Integration } from '../../../testing/settings.ts'
import type { Attempt } from '../attempt.ts'
import { conclusionOf } from '../conclusion.ts'
import type { Conclusion } from '../conclusion.ts'
import type { Trial } from '../trials.ts'
import { TRIALS } from '../trials.ts'
import { html } from './html.ts'
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
${stuckCard(attempts)}
<div class="columns">
<div class="stack main">${attemptsSection(attempts)}${trialsCard(loginUrl, false)}</div>
<div class="stack last">${setupCard(portal, loginUrl)}</div>
</div>`
  })
}

/** The invalid requests on offer; brief beside something else. */
export function trialsCard (loginUrl: string, brief: boolean): Html {
  return html`<section class="card" aria-labelledby="trials">
<h2 id="trials">Try invalid requests</h2>
<p class="quiet small">A correct service rejects each of them.</p>
<ul class="rows">${TRIALS.map((trial) => html`<li class="beside">
<div><h3>${trial.title}</h3>${brief ? null : explained(trial)}</div>
<a class="button" id="try-${trial.id}" href="${startPath(loginUrl)}?trial=${trial.id}"
 aria-label="Try: ${trial.title}">Try</a>
</li>`)}</ul>
</section>`
}

const explained = ({ does, rule }: Trial): Html =>
  html`<p class="small">${does}</p><p class="small quiet">${rule.sentence}</p>`

export const startPath = (loginUrl: string): string => new URL(loginUrl).pathname

/** The class that colours an outcome. */
export const tone = (outcome: Conclusion['outcome']): string =>
  outcome === 'pass' ? 'good' : outcome === 'fail' ? 'bad' : 'wait'

/** For the developer whose browser stayed at the service and who opened the start page again. */
function stuckCard (attempts: Attempt[]): Html | null {
  const stuck = attempts.find(({ isStuck }) => isStuck)
  if (stuck === undefined) return null
  return html`<section class="card wide notice" aria-labelledby="stuck">
<h2 id="stuck">A sign-in did not come back yet</h2>
<p class="quiet small">The browser was sent to your service, and no code has arrived.</p>
<a class="button" href="/sign-ins/${stuck.id}">See the usual causes</a>
</section>`
}

function attemptsSection (attempts: Attempt[]): Html | null {
  if (attempts.length === 0) return null
  return html`<section class="card" aria-labelledby="attempts">
<h2 id="attempts">Sign-ins of this browser</h2>
<p class="quiet small">Another browser sees its own, the terminal all of them.</p>
<ul class="rows">${attempts.map(attemptRow)}</ul>
</section>`
}

function attemptRow (attempt: Attempt): Html {
  const { id, trial, startedAt } = attempt
  const { outcome, title } = conclusionOf(attempt)
  const time = startedAt.toISOString()
  return html`<li class="beside"><span class="chip ${tone(outcome)}">${outcome}</span>
<div><a href="/sign-ins/${id}">${trial === null ? null : `${trial.title}: `}${title}</a></div>
<time class="small quiet" datetime="${time}">${time.slice(11, 19)} UTC</time></li>`
}

const USERS = {
  partner: 'Partner OAuth level: partner users and client users.',
  client: 'Client OAuth level: client users only.'
}

function setupCard (portal: Integration, loginUrl: string): Html {
  const { clientId, redirectUri, authorizeUrl, tokenUrl, userUrl, level } = portal
  return html`<section class="card" aria-labelledby="setup">
<h2 id="setup">What your service needs</h2>
<p class="quiet small">Register the portal with these four values.</p>
<dl>${fact('login_url', loginUrl)}${fact('client_id', clientId)}
${fact('client_secret', 'as given at the start')}${fact('redirect_uri', redirectUri)}</dl>
<h2>What the portal calls</h2>
<p class="quiet small">${USERS[level]}</p>
<dl>${fact('Authorization URL', authorizeUrl)}${fact('Access Token URL', tokenUrl)}
${fact('User Information URL', userUrl)}</dl>
</section>`
}

const fact = (name: string, value: string): Html => html`<div><dt>${name}</dt><dd class="mono">${value}</dd></div>`
