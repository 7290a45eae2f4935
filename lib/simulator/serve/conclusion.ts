import type { Finding } from '../../check/run.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Attempt } from './attempt.ts'

/** `untested`: it shows neither that the service is right nor that it is wrong. */
export type Outcome = 'running' | Finding['outcome']

/** The state or result of a sign-in or trial. All texts are free of secrets. */
type Conclusion = [outcome: Outcome, title: string, sentence: string]

const AWAY = 'The browser is at your service. This page continues when it comes back.'
const NEXT_STEP = 'The next step is in progress.'
const SIGNED_IN = 'All fifteen steps succeeded. '
const AGAIN =
  'Sign in again: a session cookie with SameSite=Strict makes the second sign-in ask for a login.'
const ONE_SITE = 'For this browser your service and this portal are one site: it sends a session ' +
  'cookie with SameSite=Strict, which fails in production. Give them two host names.'
/** The simulator cannot know who is eligible: where a user is let in, it suggests another one. */
const LET_IN = 'Log in at your application as a user who may not use the portal, then try again. ' +
  'If this user may not use it, check that before a code is issued.'

const ASKED_AGAIN =
  'This browser has signed in before. Does your application ask for a login again? Then its ' +
  'session cookie was not sent, most often because it is SameSite=Strict: browsers do not send ' +
  'such a cookie when another site, the portal, redirects. Set it with SameSite=Lax.'
const NOT_LED_BACK =
  'A later sign-in of this browser came back, so its user is logged in, but that login did not ' +
  'lead back here. Either the login page’s Content-Security-Policy has a form-action without the ' +
  'portal’s origin (the browser’s console says so), or the login forgets the address to return to.'

const TRIAL_TITLES = {
  pass: 'Rejected, as it should be',
  fail: 'The service fails this trial',
  advice: 'The service fails this trial',
  untested: 'The trial could not be made'
}

export function conclusionOf ({ isAway, ended, finding, trial, signIn }: Attempt): Conclusion {
  const { failure, record, secrets, integration } = signIn
  if (isAway) return ['running', 'Waiting for your service', AWAY]
  if (!ended) return ['running', 'In progress', trial?.does ?? NEXT_STEP]
  if (finding !== undefined) {
    const { outcome, fix, reason, sentence } = finding
    return [outcome, TRIAL_TITLES[outcome], fix ?? reason ?? sentence]
  }
  if (failure !== null) return ['fail', `The sign-in stopped at step ${failure.step}`, failure.fix]
  const name = secrets.mask(String(record?.name))
  if (trial !== undefined) return ['untested', `${name} was let in`, LET_IN]
  return ['pass', `${name} is signed in`, SIGNED_IN + (isOneSite(integration) ? ONE_SITE : AGAIN)]
}

/**
 * Why a browser may not have come back, as far as its other sign-ins show; empty where they do
 * not.
 *
 * @param all - the sign-ins of the browser, newest first
 */
export function hintOf (attempt: Attempt, all: readonly Attempt[]): string {
  const signedIn = all.find(({ signIn }) => signIn.record !== null)
  if (signedIn === undefined) return ''
  if (all.indexOf(signedIn) < all.indexOf(attempt)) return NOT_LED_BACK
  return isOneSite(attempt.signIn.integration) ? '' : ASKED_AGAIN
}

/**
 * Whether browsers count the portal and the service as one site, and so send a Strict cookie. The
 * port does not matter; localhost and 127.0.0.1 are two sites.
 */
function isOneSite ({ redirectUri, authorizeUrl }: Integration): boolean {
  return new URL(redirectUri).hostname === new URL(authorizeUrl).hostname
}
