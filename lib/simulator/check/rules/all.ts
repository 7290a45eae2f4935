import { ADDRESS_RULES } from './address-rules.ts'
import { AUTHORIZE_RULES } from './authorize-rules.ts'
import { LOGIN_RULES } from './login-rules.ts'
import { type Rule } from './rule.ts'
import { TOKEN_RULES } from './token-rules.ts'
import { USER_RULES } from './user-rules.ts'

/** Every rule that `check` tries, in the order of the flow. */
export const RULES: readonly Rule[] = [...ADDRESS_RULES, ...LOGIN_RULES, ...AUTHORIZE_RULES, ...TOKEN_RULES, ...USER_RULES]
