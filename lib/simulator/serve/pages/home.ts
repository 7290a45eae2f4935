import type { Integration } from '../../../flow/integration.ts'
import type { Attempt } from '../attempt.ts'
import { conclusionOf } from '../conclusion.ts'
import { START, TRIALS } from '../trials.ts'
import { html } from './html.ts'
import { button, card, chip, layout } from './layout.ts'

/** The first page: a button to sign in, the trials, and this browser's sign-ins. */
export const homePage = (integration: Integration, attempts: Attempt[]): string => layout(integration, {
  title: 'Sign in to the portal',
  sentence: 'This page plays the portal. It sends your browser to your service, redeems the code ' +
    'that comes back, and shows each of the fifteen steps.',
  buttons: [button('Sign in', START)],
  body: html`${attempts.length > 0 && attemptsCard(attempts)}${trialsCard}`
})

/** Where there is no sign-in to show, or none that a browser comes back to. */
export const nothingHerePage = (integration: Integration): string => layout(integration, {
  title: 'This browser has no such sign-in',
  sentence: 'Each browser sees the sign-ins that it began, among the last hundred, until the simulator stops. ' +
    'Start again, and stay on one host name: localhost and 127.0.0.1 do not share cookies.',
  buttons: [button('Sign in', START), button('Start page', '/')]
})

/** The invalid requests on offer. */
export const trialsCard = card('trials', 'Try invalid requests', html`
<p class="quiet">A correct service rejects each of them.</p>
<ul>${TRIALS.map(({ title, does, rule, path }) => html`<li class="beside">
<div><h3>${title}</h3><p>${does}</p><p class="quiet">${rule.sentence}</p></div>
<a class="button" href="${path}" aria-label="Try: ${title}">Try</a>
</li>`)}</ul>`)

const attemptsCard = (attempts: Attempt[]) => card('attempts', 'Sign-ins of this browser', html`
<p class="quiet">Another browser sees its own.</p>
<ul>${attempts.map(attemptRow)}</ul>`)

function attemptRow (attempt: Attempt) {
  const { path, startedAt, trial } = attempt
  const [outcome, title] = conclusionOf(attempt)
  return html`<li class="beside">${chip(outcome, outcome)}
<div><a href="${path}">${trial && `${trial.title}: `}${title}</a></div>
<span class="quiet">${startedAt.toTimeString().slice(0, 8)}</span></li>`
}
