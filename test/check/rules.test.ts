// The list of rules: the identifiers that reports and lists of a partner name, and no circle of imports behind it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { GROUPS } from '../../lib/check/rule.ts'
import { RULES } from '../../lib/check/rules.ts'

t.test('the rules by group', async (t) => {
  const groups = Object.fromEntries(Object.keys(GROUPS).map((group) =>
    [group, RULES.filter((rule) => rule.group === group).map(({ id }) => id).sort()]))
  t.strictSame(groups, {
    reach: ['address.https', 'authorize.hook', 'authorize.registered', 'token.hook', 'user.hook'],
    login: ['login.cookie', 'login.form-action', 'login.open-redirect', 'login.page', 'login.return'],
    who: ['authorize.access-denied', 'authorize.code', 'authorize.login-needed'],
    record: ['authorize.state', 'service.one-store', 'token.response', 'user.other-user', 'user.record'],
    front: ['service.headers', 'service.refusals'],
    store: ['token.replay-revokes']
  })
})

t.test('a rule is proven by a later one, which ends the list where it fails', async (t) => {
  for (const { id, provenBy } of RULES) {
    if (provenBy === undefined) continue
    const later = RULES.slice(RULES.findIndex((rule) => rule.id === id) + 1)
    t.ok(later.find((rule) => rule.id === provenBy)?.isGate, id)
  }
})

/** The files that a file imports, types too. */
const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?<=from ')\.[^']+/g)].map(([path]) => join(dirname(file), path))

/** A way from a file to itself; undefined where there is none. */
function circleFrom (start: string): string | undefined {
  const ways = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const next of importsOf(way.at(-1) as string)) {
      if (next === start) return [...way, next].join(' > ')
      if (!seen.has(next)) ways.push([...way, next])
      seen.add(next)
    }
  }
  return undefined
}

t.test('no file of the portal’s side imports itself by way of others, not even a type', async (t) => {
  for (const folder of ['lib/check', 'lib/flow']) {
    for (const name of readdirSync(folder).filter((name) => name.endsWith('.ts'))) {
      t.equal(circleFrom(`${folder}/${name}`), undefined, `${folder}/${name}`)
    }
  }
})
