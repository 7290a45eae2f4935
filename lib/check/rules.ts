import { serviceHeaders, serviceRefusals } from './front.ts'
import { loginCookie, loginFormAction, loginOpenRedirect, loginPage, loginReturn } from './login.ts'
import { addressHttps, authorizeHook, authorizeRegistered, tokenHook, userHook } from './reach.ts'
import { authorizeState, oneStore, tokenResponse, userOtherUser, userRecord } from './record.ts'
import type { Rule } from './rule.ts'
import { tokenReplayRevokes } from './store.ts'
import { authorizeAccessDenied, authorizeCode, authorizeLoginNeeded } from './who.ts'

/**
 * All rules in the order in which they are tried: a cause before what follows from it, so that the
 * first failure is the one to mend.
 */
export const RULES: readonly Rule[] = [
  authorizeHook,
  addressHttps,
  authorizeRegistered,
  authorizeState,
  tokenHook,
  userHook,
  authorizeLoginNeeded,
  loginPage,
  authorizeCode,
  loginCookie,
  loginFormAction,
  loginReturn,
  authorizeAccessDenied,
  oneStore,
  tokenResponse,
  userRecord,
  userOtherUser,
  serviceHeaders,
  serviceRefusals,
  tokenReplayRevokes,
  // Other logins, which may end the session of the user.
  loginOpenRedirect
]
