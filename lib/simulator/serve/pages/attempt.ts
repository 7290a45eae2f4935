import type { Finding } from '../../../check/run.ts'
import type { SignIn } from '../../../flow/legs.ts'
import { unlistedFields } from '../../../user-information.ts'
import type { UserInformation } from '../../../user-information.ts'
import type { Attempt } from '../attempt.ts'
import { conclusionOf, hintOf } from '../conclusion.ts'
import { START, TRIAL } from '../trial.ts'
import { trialCard } from './home.ts'
import { html } from './html.ts'
import { button, card, chip, facts, layout } from './layout.ts'
import { timeline } from './timeline.ts'

/**
 * One attempt: how it goes, what failed or who signed in, and its fifteen steps. What matters most
 * comes first, for a narrow screen and for a screen reader.
 *
 * @param all - the sign-ins of the same browser, newest first
 */
export async function attemptPage (attempt: Attempt, all: readonly Attempt[]): Promise<string> {
  const { ended, isAway, isTrial, finding, signIn } = attempt
  const { verdict, title, sentence } = conclusionOf(attempt)
  return layout(signIn.integration, {
    title,
    sentence,
    label: chip(verdict, isTrial ? `Trial: ${TRIAL.title}` : 'Sign-in'),
    buttons: ended && [
      isTrial ? button('Try again', TRIAL.path) : button('Sign in again', START),
      button('Start page', '/')
    ],
    inProgress: !ended,
    body: html`${isAway && loginCard(hintOf(attempt, all), await attempt.loginFindings())}
${problemCard(attempt)}
<div class="columns">
${finding?.got && findingCard(finding)}
${signIn.record && recordCard(signIn.record, signIn)}
${card('steps', 'The fifteen steps', timeline(signIn.steps(), finding?.outcome === 'pass'))}
${ended && !isTrial && trialCard}
</div>`
  })
}

/**
 * For a developer whose browser does not come back from the service: what `check` finds on the way
 * to the login.
 */
const loginCard = (hint: string, findings: Finding[]) =>
  card('causes', 'The browser does not come back?', html`
<p><b>${hint}</b></p>
<p class="quiet">Take your time if you are logging in. If not: rules of <code>check</code>, without a user.</p>
<ul>${findings.map((finding) => html`<li>${findingOf(finding)}</li>`)}</ul>`)

const findingOf = ({ outcome, sentence, got, reason, fix }: Finding) =>
  html`<h3>${sentence} ${chip(outcome, outcome)}</h3>
${facts({ Got: got, Reason: reason, 'What to do': fix })}`

/** Why the sign-in failed. Nothing where the trial has a finding: `findingCard` shows it. */
function problemCard ({ finding, signIn: { failure } }: Attempt) {
  if (finding !== undefined || failure === null) return false
  const { error, expected, got, fix } = failure
  return card('problem', 'What went wrong', html`
<p><code>${error}</code></p>
${facts({ Expected: expected, Got: got, 'What to do': fix })}`)
}

/** What the trial found, where the user was not refused as it has to be. */
const findingCard = (finding: Finding) => card('trial', 'The trial', findingOf(finding))

/** The user as the portal understands the record. */
function recordCard (record: UserInformation, { integration, secrets }: SignIn) {
  const ignored = unlistedFields({ ...record })
  const fields = Object.entries(record)
    .map(([field, value]) => [field, ignored.includes(field) ? undefined : secrets.mask(String(value))])
  return card('record', 'The user at the portal', html`
<p class="quiet">A ${record.type} user, at the ${integration.level} OAuth level.</p>
${facts(Object.fromEntries(fields))}
${ignored.length > 0 && html`<p>The portal ignores: <code>${secrets.mask(ignored.join(', '))}</code></p>`}`)
}
