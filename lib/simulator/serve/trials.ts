import { byId } from '../../check/run.ts'

/** The path where a sign-in starts. */
export const START = '/external-oauth/local'

/** What a trial's rule is tried with: nothing, the code, or the return of a refused user. */
export type Taken = 'nothing' | 'code' | 'refusal'

/**
 * An invalid request that the developer sends on purpose: a rule of `check`, tried with a sign-in
 * of this browser.
 */
export type Trial = ReturnType<typeof trial>

const trial = (id: string, title: string, rule: string, takes: Taken, does: string) => ({
  /** Where it starts. */
  path: `${START}?trial=${id}`,
  title,
  /** What the simulator does. */
  does,
  rule: byId(rule),
  takes
})

/** The trials, in the order in which the pages offer them. */
export const TRIALS = [
  trial('replayed-code', 'Replayed code', 'token.replayed-code', 'code',
    'Exchanges the code for a token, then sends the used code to the token endpoint again.'),
  trial('wrong-secret', 'Wrong secret', 'token.wrong-caller-burns-nothing', 'code',
    'Sends a valid code with a wrong client_secret, then with the right one.'),
  trial('foreign-redirect-uri', 'Foreign redirect_uri', 'authorize.foreign-redirect-uri', 'nothing',
    'Requests a code for a redirect_uri that is not registered.'),
  trial('expired-code', 'Expired code', 'token.code-lifetime', 'code',
    'Waits until the lifetime of the code is over, a minute by default, then sends it.'),
  trial('ineligible-user', 'User not eligible', 'authorize.access-denied', 'refusal',
    'Signs in. Before you start, log in at your application as a user who may not use the portal.')
]

/** Rules that are tried when a browser does not come back. */
export const LOGIN_RULES =
  ['authorize.hook', 'login.page', 'login.form-action'].map(byId)
