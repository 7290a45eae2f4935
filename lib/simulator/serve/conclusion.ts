import type { Finding } from '../../check/run.ts'
import type { Attempt } from './attempt.ts'
import { isOneSite } from './one-site.ts'

/** The state or result of a sign-in or trial. All texts are free of secrets. */
export interface Conclusion {
  /**
   * `running`: it has not ended. `untested`: it shows neither that the service is right nor that it
   * is wrong.
   */
  outcome: 'running' | 'pass' | 'fail' | 'untested'
  title: string
  sentence: string
}

const SIGNED_IN = 'All fifteen steps succeeded. '
const AGAIN =
  'Sign in again: a session cookie with SameSite=Strict makes the second sign-in ask for a login.'
const ONE_SITE = 'For this browser your service and this portal are one site: it sends a session ' +
  'cookie with SameSite=Strict, which fails in production.'
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

/**
 * Why a browser may not have come back, as far as its other sign-ins show; empty where they do
 * not.
 *
 * @param all - the sign-ins of the browser, newest first
 */
export function hintOf (attempt: Attempt, all: readonly Attempt[]): string {
  const at = all.indexOf(attempt)
  const hasSignedIn = ({ signIn }: Attempt): boolean => signIn.record !== null
  if (all.slice(0, at).some(hasSignedIn)) return NOT_LED_BACK
  const mayBeStrict = all.slice(at + 1).some(hasSignedIn) && !isOneSite(attempt.signIn.integration)
  return mayBeStrict ? ASKED_AGAIN : ''
}

export function conclusionOf (attempt: Attempt): Conclusion {
  const { trial, finding, signIn: { failure, record } } = attempt
  if (!attempt.ended) return { outcome: 'running', ...progressOf(attempt) }
  if (finding !== null) return judged(finding)
  if (failure !== null) {
    return {
      outcome: 'fail', title: `The sign-in stopped at step ${failure.step}`, sentence: failure.fix
    }
  }
  const name = attempt.signIn.secrets.mask(String(record?.name))
  if (trial === null) {
    const sentence = SIGNED_IN + (isOneSite(attempt.signIn.integration) ? ONE_SITE : AGAIN)
    return { outcome: 'pass', title: `${name} is signed in`, sentence }
  }
  return { outcome: 'untested', title: `${name} was let in`, sentence: LET_IN }
}

function judged ({ outcome, sentence, fix = '', reason = '' }: Finding): Conclusion {
  if (outcome === 'pass') return { outcome, title: 'Rejected, as it should be', sentence }
  if (outcome === 'untested') return { outcome, title: 'The trial could not be made', sentence: reason }
  return { outcome: 'fail', title: 'The service fails this trial', sentence: fix }
}

function progressOf ({ sendsAt, isAway }: Attempt): Omit<Conclusion, 'outcome'> {
  if (sendsAt !== null) {
    const sentence = `The code is sent at ${clockTime(sendsAt)}.`
    return { title: 'Waiting until the code has expired', sentence }
  }
  if (isAway) {
    const sentence = 'The browser is at your service. This page continues when it comes back.'
    return { title: 'Waiting for your service', sentence }
  }
  return { title: 'In progress', sentence: 'The next step is in progress.' }
}

/** The time by the clock of this machine. */
export const clockTime = (date: Date): string => date.toTimeString().slice(0, 8)
