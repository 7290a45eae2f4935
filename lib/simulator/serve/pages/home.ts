import { type Integration } from '../../../testing/settings.ts'
import { TRIALS } from '../trials.ts'
import { type AttemptView } from '../view.ts'
import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

export interface Setup {
  portal: Integration
  /** Where a sign-in starts. */
  loginUrl: string
}

/** The first page: a button to sign in, the trials, this browser's sign-ins, and what the service needs. */
export function homePage ({ portal, loginUrl }: Setup, attempts: AttemptView[]): string {
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
<div class="stack last">${setupCard(portal, loginUrl)}${addressesCard(portal)}</div>
</div>`
  })
}

/** The invalid requests on offer; brief beside something else. */
export function trialsCard (loginUrl: string, brief: boolean): Html {
  return html`<section class="card" aria-labelledby="trials">
<h2 id="trials">Try invalid requests</h2>
<p class="hint">A correct service rejects each of them.</p>
<ul class="trials">${TRIALS.map((trial) => html`<li>
<div><h3>${trial.title}</h3>
${brief ? null : html`<p>${trial.does}</p><p class="hopes">${trial.expects}</p>`}</div>
<a class="button small" id="try-${trial.id}" href="${startPath(loginUrl)}?trial=${trial.id}"
 aria-label="Try: ${trial.title}">Try</a>
</li>`)}</ul>
</section>`
}

export const startPath = (loginUrl: string): string => new URL(loginUrl).pathname

/** The class that colours an outcome. */
export const tone = (outcome: AttemptView['outcome']): string =>
  outcome === 'pass' ? 'good' : outcome === 'fail' ? 'bad' : 'wait'

/** For the developer whose browser stayed at the service and who opened the start page again. */
function stuckCard (attempts: AttemptView[]): Html | null {
  const stuck = attempts.find(({ causes }) => causes.length > 0)
  if (stuck === undefined) return null
  return html`<section class="card wide notice" aria-labelledby="stuck">
<h2 id="stuck">A sign-in did not come back yet</h2>
<p class="hint">The browser was sent to your service, and no code has arrived.</p>
<a class="button small" href="/sign-ins/${stuck.id}">See the usual causes</a>
</section>`
}

function attemptsSection (attempts: AttemptView[]): Html | null {
  if (attempts.length === 0) return null
  return html`<section class="card" aria-labelledby="attempts">
<h2 id="attempts">Your sign-ins</h2>
<ul class="list">${attempts.map(attemptRow)}</ul>
</section>`
}

function attemptRow ({ id, trial, outcome, title, startedAt }: AttemptView): Html {
  const time = startedAt.toISOString()
  return html`<li><a href="/sign-ins/${id}"><i class="${tone(outcome)}"></i>
<b>${trial === null ? null : `${trial.title}: `}${title}</b>
<span><time datetime="${time}">${time.slice(11, 19)} UTC</time></span></a></li>`
}

function setupCard ({ clientId, redirectUri }: Integration, loginUrl: string): Html {
  return html`<section class="card" aria-labelledby="setup">
<h2 id="setup">What your service needs</h2>
<p class="hint">Register the portal with these four values.</p>
<dl class="facts">
${fact('login_url', loginUrl)}${fact('client_id', clientId)}
${fact('client_secret', 'as given at the start')}${fact('redirect_uri', redirectUri)}
</dl>
</section>`
}

function addressesCard ({ authorizeUrl, tokenUrl, userUrl, level }: Integration): Html {
  const users = {
    partner: 'Partner OAuth level: partner users and client users.',
    client: 'Client OAuth level: client users only.'
  }
  return html`<section class="card" aria-labelledby="addresses">
<h2 id="addresses">What the portal calls</h2>
<p class="hint">${users[level]}</p>
<dl class="facts">
${fact('Authorization URL', authorizeUrl)}${fact('Access Token URL', tokenUrl)}
${fact('User Information URL', userUrl)}
</dl>
</section>`
}

const fact = (name: string, value: string): Html => html`<div><dt>${name}</dt><dd class="mono">${value}</dd></div>`
