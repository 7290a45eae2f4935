import { type SignIn } from '../../testing/legs.ts'

/** An invalid request that the developer sends on purpose. */
export interface Trial {
  id: 'replayed-code' | 'wrong-secret' | 'foreign-redirect-uri' | 'expired-code' | 'ineligible-user'
  title: string
  /** What the simulator does. */
  does: string
  /** The response of a correct service. */
  expects: string
  /** What to do when the service accepts the request. */
  fix: string
}

/** The trials, in the order in which the pages offer them. */
export const TRIALS: readonly Trial[] = [
  {
    id: 'replayed-code',
    title: 'Replayed code',
    does: 'Signs in, then sends the used code to the token endpoint again.',
    expects: 'The second request is rejected with invalid_grant.',
    fix: 'Remove the code when it is used, in one atomic command.'
  },
  {
    id: 'wrong-secret',
    title: 'Wrong secret',
    does: 'Sends a valid code with a wrong client_secret, then with the right one.',
    expects: 'The first request is rejected with invalid_client, and the code stays valid.',
    fix: 'Check client_id and client_secret before anything else is done with the code.'
  },
  {
    id: 'foreign-redirect-uri',
    title: 'Foreign redirect_uri',
    does: 'Requests a code for a redirect_uri that is not registered.',
    expects: 'The service returns an error page and does not redirect.',
    fix: 'Compare the redirect_uri with the registered one as whole strings, before anything else.'
  },
  {
    id: 'expired-code',
    title: 'Expired code',
    does: 'Waits until the lifetime of the code is over, then sends it.',
    expects: 'The request is rejected with invalid_grant.',
    fix: 'Let codes expire: after one minute, or ten at most (RFC 6749 section 4.1.2).'
  },
  {
    id: 'ineligible-user',
    title: 'User not eligible',
    does: 'Signs in. Before you start, log in at your application as a user who may not use the portal.',
    expects: 'The browser comes back with access_denied and no code.',
    fix: 'If this user may not use the portal, check that before a code is issued.'
  }
]

/** How a sign-in or a trial ended. `untested`: it shows neither that the service is right nor that it is wrong. */
export interface Conclusion {
  outcome: 'pass' | 'fail' | 'untested'
  title: string
  sentence: string
}

/** Errors that have nothing to do with the tried request. */
const UNRELATED = new Set([
  'unreachable', 'timeout', 'not_http', 'tls', 'hung_up', 'too_large', 'login_required', 'not_found', 'server_error',
  'temporarily_unavailable', 'redirected', 'forbidden'
])

/** Judges a trial that the service should have rejected at one of the given steps. */
export function rejectedAt (steps: number[], trial: Trial, { failure }: SignIn): Conclusion {
  if (failure === null) return accepted(trial)
  const unrelated = !steps.includes(failure.step) || UNRELATED.has(failure.error)
  return unrelated
    ? untested(`The sign-in failed for another reason: ${asSentence(failure.got)}`)
    : rejected(failure.got)
}

export const rejected = (got: string): Conclusion =>
  ({ outcome: 'pass', title: 'Rejected, as it should be', sentence: `The service answered: ${asSentence(got)}` })

export const accepted = ({ fix }: Trial): Conclusion =>
  ({ outcome: 'fail', title: 'The service accepted it', sentence: fix })

export const untested = (sentence: string): Conclusion =>
  ({ outcome: 'untested', title: 'The trial could not be made', sentence })

/** The simulator cannot know who is eligible: a user who gets in is a reason to try with another one. */
export function userLetIn (name: string | undefined, { fix }: Trial): Conclusion {
  const user = name ?? 'This user'
  const advice = 'Log in at your application as a user who may not use the portal, then try again.'
  return { outcome: 'untested', title: `${user} was let in`, sentence: `${advice} ${fix}` }
}

/** Adds the full stop that a text may lack. */
export const asSentence = (text: string): string => /\.\)?$/.test(text) ? text : `${text}.`
