import type { Integration } from '../../../flow/integration.ts'
import type { Attempt } from '../attempt.ts'
import { clockTime, conclusionOf } from '../conclusion.ts'
import { TRIALS } from '../trials.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { card, layout, START, startPath } from './layout.ts'

/** The first page: a button to sign in, the trials, and this browser's sign-ins. */
export const homePage = (integration: Integration, attempts: Attempt[]): string => layout(integration, {
  title: 'Sign in to the portal',
  sentence: 'This page plays the portal. It sends your browser to your service, redeems the code ' +
    'that comes back, and shows each of the fifteen steps.',
  buttons: { 'Sign in': START },
  body: html`${attempts.length === 0 ? null : attemptsCard(attempts)}${trialsCard}`
})

/** The invalid requests on offer. */
export const trialsCard = card('trials', 'Try invalid requests', html`
<p class="quiet">A correct service rejects each of them.</p>
<ul>${TRIALS.map((trial) => html`<li class="beside">
<div><h3>${trial.title}</h3><p>${trial.does}</p><p class="quiet">${trial.rule.sentence}</p></div>
<a class="button" href="${startPath(trial)}" aria-label="Try: ${trial.title}">Try</a>
</li>`)}</ul>`)

/** The class that colours an outcome. */
export const TONES = { running: 'wait', untested: 'wait', pass: 'good', fail: 'bad', advice: 'wait' }

const attemptsCard = (attempts: Attempt[]): Html =>
  card('attempts', 'Sign-ins of this browser', html`
<p class="quiet">Another browser sees its own.</p>
<ul>${attempts.map(attemptRow)}</ul>`)

function attemptRow (attempt: Attempt): Html {
  const { id, trial, startedAt } = attempt
  const { outcome, title } = conclusionOf(attempt)
  return html`<li class="beside"><span class="chip ${TONES[outcome]}">${outcome}</span>
<div><a href="/sign-ins/${id}">${trial === null ? '' : `${trial.title}: `}${title}</a></div>
<span class="quiet">${clockTime(startedAt)}</span></li>`
}
