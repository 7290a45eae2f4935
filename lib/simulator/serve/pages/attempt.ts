import type { Secrets } from '../../../flow/masking.ts'
import type { Integration, Level } from '../../../flow/integration.ts'
import { unlistedFields } from '../../../user-information.ts'
import type { UserInformation } from '../../../user-information.ts'
import type { Finding } from '../../../check/run.ts'
import type { Attempt } from '../attempt.ts'
import { conclusionOf, hintOf } from '../conclusion.ts'
import { exchangeDetails } from './exchange.ts'
import { TONES, trialsCard } from './home.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import { card, fact, layout, startPath } from './layout.ts'
import { timeline } from './timeline.ts'

/**
 * One attempt: how it goes, what failed or who signed in, and its fifteen steps. What matters most
 * comes first, for a narrow screen and for a screen reader.
 *
 * @param all - the sign-ins of the same browser, newest first
 */
export async function attemptPage (
  integration: Integration, attempt: Attempt, all: readonly Attempt[]
): Promise<string> {
  const { ended, isAway, trial, signIn } = attempt
  const { outcome, title, sentence } = conclusionOf(attempt)
  const causes = isAway ? loginCard(hintOf(attempt, all), await attempt.loginFindings()) : null
  return layout(integration, {
    title,
    sentence,
    chip: html`<span class="chip ${TONES[outcome]}">${trial === null ? 'Sign-in' : `Trial: ${trial.title}`}</span>`,
    buttons: ended ? buttons(attempt) : {},
    inProgress: !ended,
    body: html`${causes}${problemCard(attempt)}
<div class="columns">
${trialCard(attempt)}
${signIn.record === null ? null : recordCard(signIn.record, integration.level, signIn.secrets)}
${card('steps', 'The fifteen steps', timeline(signIn.steps(), outcome === 'pass'), 'main')}
${ended ? trialsCard : null}
</div>`
  })
}

const buttons = ({ trial }: Attempt): Record<string, string> => ({
  [trial === null ? 'Sign in again' : 'Try again']: startPath(trial),
  'Start page': '/'
})

const WORDS = { pass: 'passes', fail: 'fails', untested: 'not tested', advice: 'advice' }

/**
 * For a developer whose browser does not come back from the service: what `check` finds on the way
 * to the login.
 */
const loginCard = (hint: string, findings: Finding[]): Html =>
  card('causes', 'The browser does not come back?', html`
${hint === '' ? null : html`<p><b>${hint}</b></p>`}
<p class="quiet">Take your time if you are logging in. If not: rules of <code>check</code>, without a user.</p>
<ul>${findings.map((finding) => html`<li>${findingOf(finding)}</li>`)}</ul>`)

function findingOf ({ outcome, sentence, got, fix, reason = '' }: Finding): Html {
  return html`<h3>${sentence} <span class="chip ${TONES[outcome]}">${WORDS[outcome]}</span></h3>
${got === undefined ? null : html`<p><b>Got:</b> ${got}</p>`}
${outcome === 'untested' ? html`<p>Not tested: ${reason}</p>` : null}
${fix === undefined ? null : html`<p><b>What to do:</b> ${fix}</p>`}`
}

/** Why the sign-in failed. Null where a trial has a finding: `trialCard` shows it. */
function problemCard ({ finding, signIn: { failure } }: Attempt): Html | null {
  if (finding !== null || failure === null) return null
  const { error, expected, got, fix } = failure
  return card('problem', 'What went wrong', html`
<p><code>${error}</code></p>
<dl>${fact('Expected', expected)}${fact('Got', got)}${fact('What to do', fix)}</dl>`, 'problem')
}

/** What a trial found, and what was sent for it. */
function trialCard ({ trial, finding, exchanges, signIn: { secrets } }: Attempt): Html | null {
  if (trial === null) return null
  return card('trial', 'The trial', html`
<p class="quiet">${trial.does}</p>
<div>${finding === null ? null : findingOf(finding)}</div>
${exchanges.map((exchange, at) => exchangeDetails(`trial-${at + 1}`, secrets.maskExchange(exchange)))}`)
}

/** The user as the portal understands the record. */
function recordCard (record: UserInformation, level: Level, secrets: Secrets): Html {
  const ignored = unlistedFields({ ...record })
  const fields = Object.entries(record).filter(([field]) => !ignored.includes(field))
  return card('record', 'The user at the portal', html`
<p class="quiet">A ${record.type} user, at the ${level} OAuth level.</p>
<dl>${fields.map(([field, value]) => fact(field, secrets.mask(String(value))))}</dl>
${ignored.length === 0 ? null : html`<p>The portal ignores: <code>${secrets.mask(ignored.join(', '))}</code></p>`}`)
}
