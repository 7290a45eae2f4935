import { ADDRESS_RULES, ENDPOINTS_RULE } from './address-rules.ts'
import { AUTHORIZE_RULES } from './authorize-rules.ts'
import { LOGIN_PAGE_RULE, LOGIN_RULES } from './login-rules.ts'
import type { Rule } from './rule.ts'
import { CODE_RULE, LEG_RULES, ONE_STORE_RULE } from './sign-in-rules.ts'
import { REPLAY_RULE, TOKEN_RULES } from './token-rules.ts'
import { USER_RULES } from './user-rules.ts'
import { AUTHORIZE_HOOK_RULE } from './without-user.ts'

/** Rules without which the others of an endpoint say nothing: a failure of one explains theirs. */
const SERVICE = [ENDPOINTS_RULE, AUTHORIZE_HOOK_RULE, ONE_STORE_RULE]
const CODE = [...SERVICE, CODE_RULE]

/** Each rule, not tried after one of these has failed. */
const after = (causes: readonly Rule[], rules: readonly Rule[]): Rule[] =>
  rules.map((rule) => ({ ...rule, after: [...causes.map(({ id }) => id), ...rule.after] }))

/** Each rule, not tried after one before it has failed. */
const inOrder = (rules: readonly Rule[]): Rule[] => rules.flatMap((rule, at) => after(rules.slice(0, at), [rule]))

const OF_TOKEN = LEG_RULES.filter(({ id }) => id.startsWith('token.'))

/** Every rule that `check` tries, in the order of the flow. */
export const RULES: readonly Rule[] = [
  ENDPOINTS_RULE,
  ...after([ENDPOINTS_RULE], [...ADDRESS_RULES, AUTHORIZE_HOOK_RULE]),
  ...after([ENDPOINTS_RULE, AUTHORIZE_HOOK_RULE], [ONE_STORE_RULE]),
  ...after(SERVICE, [LOGIN_PAGE_RULE, CODE_RULE]),
  ...after(CODE, [...LOGIN_RULES, ...AUTHORIZE_RULES, ...inOrder(LEG_RULES)]),
  ...after([...CODE, ...OF_TOKEN], TOKEN_RULES),
  ...after([...CODE, ...LEG_RULES], [...USER_RULES, REPLAY_RULE])
]

/** The rule of this identifier, to be tried alone. */
export const ruleOf = (id: string): Rule => RULES.find((rule) => rule.id === id) as Rule
