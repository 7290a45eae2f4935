import { ADDRESS_RULES } from './address-rules.ts'
import { AUTHORIZE_HOOK_RULE } from './authorize-hook.ts'
import { AUTHORIZE_RULES } from './authorize-rules.ts'
import { LOGIN_PAGE_RULE, LOGIN_RULES } from './login-rules.ts'
import { type Rule } from './rule.ts'
import { SIGN_IN_RULES } from './sign-in-rules.ts'
import { REPLAY_RULE, TOKEN_RULES } from './token-rules.ts'
import { USER_RULES } from './user-rules.ts'

const [ENDPOINTS, ...ADDRESSES] = ADDRESS_RULES as [Rule, ...Rule[]]

/** Rules without which the others of an endpoint say nothing: a failure of one explains theirs. */
const CODE = [AUTHORIZE_HOOK_RULE.id, 'authorize.answer']
const TOKEN = [...CODE, 'token.hook', 'token.body', 'token.answer']
const USER = [...TOKEN, 'user.hook', 'user.record']

/** Each rule, not tried after one of these has failed. */
const after = (causes: string[], rules: readonly Rule[]): Rule[] =>
  rules.map((rule) => ({ ...rule, after: [ENDPOINTS.id, ...causes, ...rule.after ?? []] }))

/** Each rule, not tried after one before it has failed. */
const inOrder = (rules: readonly Rule[]): Rule[] =>
  rules.flatMap((rule, at) => after(rules.slice(0, at).map(({ id }) => id), [rule]))

/** Every rule that `check` tries, in the order of the flow. */
export const RULES: readonly Rule[] = [
  ENDPOINTS,
  ...after([], [...ADDRESSES, AUTHORIZE_HOOK_RULE]),
  ...after([AUTHORIZE_HOOK_RULE.id], [LOGIN_PAGE_RULE, ...inOrder(SIGN_IN_RULES)]),
  ...after(CODE, [...LOGIN_RULES, ...AUTHORIZE_RULES]),
  ...after(TOKEN, TOKEN_RULES),
  ...after(USER, [...USER_RULES, REPLAY_RULE])
]
