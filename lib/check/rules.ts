import { FRONT } from './front.ts'
import { LOGIN, LOGIN_LAST } from './login.ts'
import { REACH } from './reach.ts'
import { RECORD } from './record.ts'
import type { Group, Rule } from './rule.ts'
import { STORE } from './store.ts'
import { WHO } from './who.ts'

export interface GroupedRule extends Rule {
  group: Group
}

const of = (group: Group, rules: readonly Rule[]): GroupedRule[] => rules.map((rule) => ({ ...rule, group }))

/**
 * All rules in the order in which they are tried: what the plugin says of nobody comes before the
 * login, the code before what it needs, and other logins, which may end a session, come last.
 */
export const RULES: readonly GroupedRule[] = [
  ...of('reach', REACH),
  ...of('who', WHO.slice(0, 1)),
  ...of('login', LOGIN.slice(0, 1)),
  ...of('who', WHO.slice(1, 2)),
  ...of('login', LOGIN.slice(1)),
  ...of('who', WHO.slice(2)),
  ...of('record', RECORD),
  ...of('front', FRONT),
  ...of('store', STORE),
  ...of('login', LOGIN_LAST)
]
