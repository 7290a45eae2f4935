import { type SignIn } from '../../testing/sign-in.ts'

/** Something that the portal may meet in bad times, tried on purpose. */
export interface Trial {
  id: 'replayed-code' | 'wrong-secret' | 'foreign-redirect-uri' | 'expired-code' | 'ineligible-user'
  title: string
  /** What is done. */
  does: string
  /** What a sound service answers. */
  expects: string
  /** What to do when the service lets it through. */
  mend: string
}

/** The trials, in the order in which they are offered. */
export const TRIALS: readonly Trial[] = [
  {
    id: 'replayed-code',
    title: 'Replayed code',
    does: 'Signs in, then sends the used code to the token endpoint once more.',
    expects: 'The second request is refused with invalid_grant.',
    mend: 'Remove the code when it is used, in one atomic command.'
  },
  {
    id: 'wrong-secret',
    title: 'Wrong secret',
    does: 'Sends a good code with a wrong client_secret, then once more with the right one.',
    expects: 'The first request is refused with invalid_client, and the code stays good.',
    mend: 'Check client_id and client_secret before anything else is done with the code.'
  },
  {
    id: 'foreign-redirect-uri',
    title: 'Foreign redirect_uri',
    does: 'Asks for a code to be sent to an address that is not registered.',
    expects: 'The service answers with an error page, and redirects nowhere.',
    mend: 'Compare the redirect_uri with the registered one as whole strings, before anything else.'
  },
  {
    id: 'expired-code',
    title: 'Expired code',
    does: 'Waits until the code’s lifetime has passed, then sends it.',
    expects: 'The request is refused with invalid_grant.',
    mend: 'Let codes expire: one minute is enough, ten are the most (RFC 6749 §4.1.2).'
  },
  {
    id: 'ineligible-user',
    title: 'User not eligible',
    does: 'Signs in. Log in at your application first as a user who may not use the portal.',
    expects: 'The browser comes back with access_denied and no code.',
    mend: 'Ask for each user whether they may use the portal, before a code is issued.'
  }
]

/** How a trial or a sign-in ended: as it should, or not. */
export interface Conclusion {
  fine: boolean
  title: string
  sentence: string
}

/** Judges a trial that the service's refusal should have ended: at one of the given steps. */
export function refusedAt (steps: number[], trial: Trial, { failure }: SignIn): Conclusion {
  if (failure === null) return letThrough(trial)
  const unrelated = !steps.includes(failure.step) || UNRELATED.has(failure.error)
  if (unrelated) return { fine: false, title: 'The trial could not be made', sentence: `The sign-in failed for another reason: ${ended(failure.got)}` }
  return { fine: true, title: 'Refused, as it should be', sentence: `The service answered: ${ended(failure.got)}` }
}

/** Failures that say nothing about what was tried. */
const UNRELATED = new Set(['unreachable', 'timeout', 'not_http', 'tls', 'hung_up', 'too_large', 'login_required', 'not_found', 'server_error', 'temporarily_unavailable', 'redirected', 'forbidden'])

/** The text as a sentence: with the one full stop that it may lack. */
export const ended = (text: string): string => /\.\)?$/.test(text) ? text : `${text}.`

export const letThrough = ({ mend }: Trial): Conclusion => ({ fine: false, title: 'The service let it through', sentence: mend })
