import { byId } from '../../check/run.ts'

/** The path where a sign-in starts. */
export const START = '/external-oauth/local'

/** The one trial: a sign-in of a user who may not enter. The browser's return is held against the rule. */
export const TRIAL = {
  /** Where it starts. */
  path: `${START}?trial=ineligible-user`,
  title: 'User not eligible',
  does: 'Signs in. Before you start, log in to your application as a user who may not use the portal.',
  rule: byId('authorize.access-denied')
}
