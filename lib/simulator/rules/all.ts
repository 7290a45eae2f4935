import { ADDRESS_RULES } from './address-rules.ts'
import { AUTHORIZE_RULES } from './authorize-rules.ts'
import {
  AUTHORIZE_REQUEST_RULES, CLAIMED_USER_RULE, FORGED_SESSION_RULE
} from './authorize-request-rules.ts'
import { AUTHORIZE_EXACT_RULES, TOKEN_EXACT_RULES, USER_EXACT_RULE } from './exact-rules.ts'
import { LOGIN_COOKIE_RULE } from './login-cookie-rule.ts'
import { LOGIN_FORM_RULE, LOGIN_FRAME_RULE, LOGIN_PAGE_RULE } from './login-page-rules.ts'
import { LOGIN_RETURN_RULE } from './login-return-rule.ts'
import { CODE_MADE_RULES, MADE_RULES } from './made-rules.ts'
import { PKCE_RULES } from './pkce-rules.ts'
import { REFLECTION_RULE, TOKEN_REFLECTION_RULES } from './reflection-rules.ts'
import type { Rule } from './rule.ts'
import { SECOND_TRY_RULES } from './second-try-rules.ts'
import { SEEN_RULES } from './seen-rules.ts'
import {
  CODE_RULE, ENCODED_CODE_RULE, ONE_STORE_RULE, TOKEN_LEG_RULES, USER_LEG_RULES
} from './sign-in-rules.ts'
import { TOKEN_REFUSAL_RULES } from './token-refusal-rules.ts'
import { REPLAY_RULE, TOKEN_RULES } from './token-rules.ts'
import { USER_RULES } from './user-rules.ts'
import { AUTHORIZE_HOOK_RULE } from './without-user.ts'

const IN_ORDER: readonly Rule[] = [
  ...ADDRESS_RULES,
  AUTHORIZE_HOOK_RULE,
  ONE_STORE_RULE,
  LOGIN_PAGE_RULE,
  CODE_RULE,
  ENCODED_CODE_RULE,
  LOGIN_COOKIE_RULE,
  LOGIN_FORM_RULE,
  LOGIN_FRAME_RULE,
  LOGIN_RETURN_RULE,
  ...AUTHORIZE_RULES,
  ...AUTHORIZE_REQUEST_RULES,
  FORGED_SESSION_RULE,
  ...AUTHORIZE_EXACT_RULES,
  ...CODE_MADE_RULES,
  REFLECTION_RULE,
  ...TOKEN_LEG_RULES,
  ...TOKEN_REFUSAL_RULES,
  ...TOKEN_RULES,
  ...PKCE_RULES,
  ...TOKEN_EXACT_RULES,
  ...USER_LEG_RULES,
  ...USER_RULES,
  USER_EXACT_RULE,
  REPLAY_RULE,
  ...SECOND_TRY_RULES,
  ...MADE_RULES,
  ...TOKEN_REFLECTION_RULES,
  CLAIMED_USER_RULE,
  ...SEEN_RULES
]

/** Every rule that `check` tries, in the order of the flow. */
export const RULES: readonly Rule[] = IN_ORDER.map((rule, at) => {
  const causes = IN_ORDER.slice(0, at).filter(({ isPrerequisite }) => isPrerequisite)
  return { ...rule, after: [...causes.map(({ id }) => id), ...rule.after ?? []] }
})

/** The rule of this identifier, to be tried alone. */
export const ruleOf = (id: string): Rule => RULES.find((rule) => rule.id === id) as Rule
