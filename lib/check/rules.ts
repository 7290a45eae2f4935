import { FRONT } from './front.ts'
import { LOGIN, LOGIN_LAST } from './login.ts'
import { REACH } from './reach.ts'
import { RECORD } from './record.ts'
import type { Group, Rule, Severity } from './rule.ts'
import { STORE } from './store.ts'
import { WHO } from './who.ts'

export interface GroupedRule extends Rule {
  group: Group
  severity: Severity
}

/**
 * What the plugin says of nobody comes before the login, the code before what it needs, and other
 * logins, which may end a session, come last.
 */
const ORDER = [
  ['reach', REACH],
  ['who', WHO.slice(0, 1)],
  ['login', LOGIN.slice(0, 1)],
  ['who', WHO.slice(1, 2)],
  ['login', LOGIN.slice(1)],
  ['who', WHO.slice(2)],
  ['record', RECORD],
  ['front', FRONT],
  ['store', STORE],
  ['login', LOGIN_LAST]
] as const

/** All rules in the order in which they are tried. */
export const RULES: GroupedRule[] = ORDER.flatMap(([group, rules]) =>
  rules.map((rule) => ({
    severity: 'must',
    ...rule,
    group
  }))
)
