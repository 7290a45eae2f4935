import { RULES } from '../rules/all.ts'
import type { Rule } from '../rules/rule.ts'

/** An invalid request that the developer sends on purpose: rules of `check`, tried with a sign-in of this browser. */
export interface Trial {
  id: string
  title: string
  /** What the simulator does. */
  does: string
  rules: Rule[]
  /** What the rules are tried with: nothing, the code, a completed sign-in, or the return of a refused user. */
  takes: 'nothing' | 'code' | 'sign-in' | 'refusal'
}

/** The rules with these identifiers. */
export const rulesOf = (...ids: string[]): Rule[] => RULES.filter(({ id }) => ids.includes(id))

/** The trials, in the order in which the pages offer them. */
export const TRIALS: readonly Trial[] = [
  {
    id: 'replayed-code',
    title: 'Replayed code',
    does: 'Signs in, then sends the used code to the token endpoint again.',
    rules: rulesOf('token.replayed-code'),
    takes: 'sign-in'
  },
  {
    id: 'wrong-secret',
    title: 'Wrong secret',
    does: 'Sends a valid code with a wrong client_secret, then with the right one.',
    rules: rulesOf('token.wrong-secret', 'token.wrong-caller-burns-nothing'),
    takes: 'code'
  },
  {
    id: 'foreign-redirect-uri',
    title: 'Foreign redirect_uri',
    does: 'Requests a code for a redirect_uri that is not registered.',
    rules: rulesOf('authorize.foreign-redirect-uri'),
    takes: 'nothing'
  },
  {
    id: 'expired-code',
    title: 'Expired code',
    does: 'Waits until the lifetime of the code is over, then sends it.',
    rules: rulesOf('token.code-lifetime'),
    takes: 'code'
  },
  {
    id: 'ineligible-user',
    title: 'User not eligible',
    does: 'Signs in. Before you start, log in at your application as a user who may not use the portal.',
    rules: rulesOf('authorize.eligibility'),
    takes: 'refusal'
  }
]

/** What is looked at when a browser does not come back. Only a browser tells whether its cookie is sent. */
export const LOGIN_RULES = rulesOf('authorize.hook', 'login.page', 'login.return', 'login.form-action', 'login.cookie')
