import { type Integration } from '../../../testing/settings.ts'
import { type Attempt } from '../attempt.ts'
import { TRIALS } from '../trials.ts'
import { html, type Html } from './html.ts'
import { layout } from './layout.ts'

export interface Setup {
  portal: Integration
  /** Where a sign-in starts (spec §1.5). */
  loginUrl: string
}

/** The first page: what to set up, a button to sign in, the trials, and what was done so far. */
export function homePage ({ portal, loginUrl }: Setup, attempts: Attempt[]): string {
  return layout({
    title: 'Start',
    baseUrl: portal.base.href,
    body: html`<div class="lede">
<h1>Sign in to the portal</h1>
<p>This page plays the portal. It sends your browser to your service, redeems the code it comes back with, and shows each of the fifteen steps.</p>
<div class="actions"><a class="button main" href="${startPath(loginUrl)}">Sign in</a></div>
</div>
<div class="columns">
<div class="stack">${trialsCard(loginUrl, false)}${attempts.length === 0 ? null : attemptsSection(attempts)}</div>
<div class="stack">${setupCard(portal, loginUrl)}${addressesCard(portal)}</div>
</div>`
  })
}

/** The offer of what the portal may meet in bad times; brief where it stands beside something else. */
export function trialsCard (loginUrl: string, brief: boolean): Html {
  return html`<section class="card" aria-labelledby="trials">
<h2 id="trials">In bad times</h2>
<p class="hint">What must not succeed, tried on purpose.</p>
<ul class="trials">${TRIALS.map((trial) => html`<li>
<div><h3>${trial.title}</h3>${brief ? null : html`<p>${trial.does}</p><p class="hopes">${trial.expects}</p>`}</div>
<a class="button small" id="try-${trial.id}" href="${startPath(loginUrl)}?trial=${trial.id}" aria-label="Try: ${trial.title}">Try</a>
</li>`)}</ul>
</section>`
}

export const startPath = (loginUrl: string): string => new URL(loginUrl).pathname

function attemptsSection (attempts: Attempt[]): Html {
  return html`<section class="card" aria-labelledby="attempts">
<h2 id="attempts">So far</h2>
<ul class="list">${attempts.map((attempt) => html`<li><a href="/sign-ins/${attempt.id}"><i class="${tone(attempt)}"></i><b>${attempt.trial === null ? null : `${attempt.trial.title}: `}${standing(attempt)}</b><span><time datetime="${attempt.startedAt.toISOString()}">${attempt.startedAt.toISOString().slice(11, 19)} UTC</time></span></a></li>`)}</ul>
</section>`
}

/** Where an attempt stands, in a few words. */
export function standing ({ conclusion, flow }: Attempt): string {
  if (conclusion !== null) return conclusion.title
  const atService = flow.timeline.reports.some(({ number, outcome }) => number === 5 && outcome === 'running')
  return atService ? 'Waiting for your service' : 'Under way'
}

/** The class that colours an attempt. */
export const tone = ({ conclusion }: Attempt): string => {
  if (conclusion === null) return 'wait'
  return conclusion.fine ? 'good' : 'bad'
}

function setupCard (portal: Integration, loginUrl: string): Html {
  return html`<section class="card" aria-labelledby="setup">
<h2 id="setup">What your service needs</h2>
<p class="hint">The four values of the integration.</p>
<dl class="facts">
${fact('login_url', loginUrl)}${fact('client_id', portal.clientId)}${fact('client_secret', '••••••••')}${fact('redirect_uri', portal.redirectUri)}
</dl>
</section>`
}

function addressesCard ({ authorizeUrl, tokenUrl, userUrl, level }: Integration): Html {
  return html`<section class="card" aria-labelledby="addresses">
<h2 id="addresses">What the portal calls</h2>
<p class="hint">${level === 'partner' ? 'Partner OAuth level: partner users and client users.' : 'Client OAuth level: client users only.'}</p>
<dl class="facts">
${fact('Authorization URL', authorizeUrl)}${fact('Access Token URL', tokenUrl)}${fact('User Information URL', userUrl)}
</dl>
</section>`
}

const fact = (name: string, value: string): Html => html`<div><dt>${name}</dt><dd class="mono">${value}</dd></div>`
