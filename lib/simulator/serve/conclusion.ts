import type { Finding } from '../../check/run.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Attempt } from './attempt.ts'

/** `untested`: it shows neither that the service is right nor that it is wrong. */
export type Verdict = 'running' | Finding['outcome']

/** The state or result of a sign-in. All texts are free of secrets. */
interface Conclusion {
  verdict: Verdict
  title: string
  sentence: string
}

const AWAY: Conclusion = {
  verdict: 'running',
  title: 'Waiting for your service',
  sentence: 'The browser is at your service. This page continues when it comes back.'
}
const AWAY_ON_TRIAL: Conclusion = {
  ...AWAY,
  sentence: `${AWAY.sentence} Where your application shows this user a page of its own that says why they may not ` +
    'enter, the browser stays there, and that is right: this page then waits for nothing.'
}
const RUNNING: Conclusion = {
  verdict: 'running',
  title: 'In progress',
  sentence: 'The next step is in progress.'
}

const AGAIN = 'All fifteen steps succeeded. Now press Sign in again: if you are asked to log in a second time, your ' +
  'session cookie was not sent, most often because it is SameSite=Strict: browsers do not send such a cookie when ' +
  'another site, such as the portal, redirects to your application. Set the cookie with SameSite=Lax.'
const ONE_SITE = 'All fifteen steps succeeded. For this browser your service and this portal are one site: it sends ' +
  'a session cookie with SameSite=Strict, which fails in production. Give them two host names.'

/** The simulator cannot know who is eligible: where a user is let in, it suggests another one. */
const LET_IN = 'Log in to your application as a user who may not use the portal, then try again. ' +
  'If this user may not use it, let portalEligibility return null for them.'

const TRIAL_TITLES = {
  pass: 'The user was refused, and the portal knows it',
  fail: 'The user was not refused as the portal expects',
  advice: 'The user was not refused as the portal expects',
  untested: 'The trial could not be made'
}

const ASKED_AGAIN =
  'This browser has signed in before. Does your application ask for a login again? Then its ' +
  'session cookie was not sent, most often because it is SameSite=Strict: browsers do not send ' +
  'such a cookie when another site, the portal, redirects. Set it with SameSite=Lax.'
const NOT_LED_BACK =
  'A later sign-in of this browser came back, so its user is logged in, but that login did not ' +
  'lead back here. Either the login page’s Content-Security-Policy has a form-action without the ' +
  'portal’s origin (the browser’s console says so), or the login forgets the address to return to.'

/** How a sign-in stands or how it ended, for its page. */
export function conclusionOf ({ isAway, ended, finding, isTrial, signIn }: Attempt): Conclusion {
  const { failure, record, secrets, integration } = signIn
  if (isAway) return isTrial ? AWAY_ON_TRIAL : AWAY
  if (!ended) return RUNNING
  if (finding !== undefined) {
    const { outcome, fix, reason, sentence } = finding
    return { verdict: outcome, title: TRIAL_TITLES[outcome], sentence: fix ?? reason ?? sentence }
  }
  if (failure !== null) {
    return { verdict: 'fail', title: `The sign-in stopped at step ${failure.step}`, sentence: failure.fix }
  }
  const name = secrets.mask(String(record?.name))
  if (isTrial) return { verdict: 'untested', title: `${name} was let in`, sentence: LET_IN }
  return { verdict: 'pass', title: `${name} is signed in`, sentence: isOneSite(integration) ? ONE_SITE : AGAIN }
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
