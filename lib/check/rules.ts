import { FRONT } from './front.ts'
import { LOGIN, LOGIN_LAST } from './login.ts'
import { REACH } from './reach.ts'
import { RECORD } from './record.ts'
import type { Group, Rule } from './rule.ts'
import { STORE } from './store.ts'
import { LOGIN_NEEDED, WHO } from './who.ts'

/** All rules, in the order of the report. */
export const RULES: Record<Group, readonly Rule[]> = {
  reach: REACH,
  login: [...LOGIN, ...LOGIN_LAST],
  who: [LOGIN_NEEDED, ...WHO],
  record: RECORD,
  front: FRONT,
  store: STORE
}

const [page, ...login] = LOGIN
const [code, ...who] = WHO

/**
 * The order in which they are tried: what the plugin says of nobody comes before the login, the
 * code before what it needs, and other logins, which may end a session, come last.
 */
export const IN_ORDER: readonly Rule[] = [
  ...REACH,
  LOGIN_NEEDED,
  page as Rule,
  code as Rule,
  ...login,
  ...who,
  ...RECORD,
  ...FRONT,
  ...STORE,
  ...LOGIN_LAST
]

/** Rules about the plugin more than about the app: where they pass they are only counted. */
export const SANITY: ReadonlySet<string> = new Set(
  IN_ORDER.filter((rule) => rule.isSanity).map(({ id }) => id)
)
