import type { Integration } from '../../../flow/integration.ts'
import type { Attempt } from '../attempt.ts'
import { conclusionOf } from '../conclusion.ts'
import { START, TRIAL } from '../trial.ts'
import { html } from './html.ts'
import { button, card, chip, layout } from './layout.ts'

/** The first page: a button to sign in, the trial, and this browser's sign-ins. */
export const homePage = (integration: Integration, attempts: Attempt[]): string => layout(integration, {
  title: 'Sign in to the portal',
  sentence: 'This page plays the portal. It sends your browser to your service, redeems the code ' +
    'that comes back, and shows each of the fifteen steps.',
  buttons: [button('Sign in', START)],
  body: html`${attempts.length > 0 && attemptsCard(attempts)}${trialCard}`
})

/** Where there is no sign-in to show, or none that a browser comes back to. */
export const nothingHerePage = (integration: Integration): string => layout(integration, {
  title: 'This sign-in cannot continue',
  sentence: 'This browser has no such sign-in. Each browser sees the sign-ins that it began, among the last hundred, ' +
    'until the simulator stops. Start again, and stay on one host name: localhost and 127.0.0.1 do not share cookies.',
  buttons: [button('Sign in', START), button('Start page', '/')]
})

/** The offer to try a user who may not enter. */
export const trialCard = card('trial-offer', 'Try a user who may not enter', html`
<div class="beside">
<div><h3>${TRIAL.title}</h3><p>${TRIAL.does}</p><p class="quiet">${TRIAL.rule.sentence}</p></div>
<a class="button" href="${TRIAL.path}" aria-label="Try: ${TRIAL.title}">Try</a>
</div>`)

const attemptsCard = (attempts: Attempt[]) => card('attempts', 'Sign-ins of this browser', html`
<p class="quiet">Another browser sees its own.</p>
<ul>${attempts.map(attemptRow)}</ul>`)

function attemptRow (attempt: Attempt) {
  const { path, startedAt, isTrial } = attempt
  const { verdict, title } = conclusionOf(attempt)
  return html`<li class="beside">${chip(verdict, verdict)}
<div><a href="${path}">${isTrial && `${TRIAL.title}: `}${title}</a></div>
<span class="quiet">${startedAt.toTimeString().slice(0, 8)}</span></li>`
}
