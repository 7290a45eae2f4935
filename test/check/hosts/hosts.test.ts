// What a host breaks, one change each: which rules of `check` fail.
import t from 'tap'
import type { Injectable, LoginPage } from '../../../lib/testing/index.ts'
import { portal } from '../../../lib/testing/index.ts'
import { partnerApp, PORTAL, SETTINGS } from '../../app.ts'
import { CORRECT } from './correct.ts'
import { FRONT } from './front.ts'
import { LOGIN } from './login.ts'
import { REACH } from './reach.ts'
import { RECORD } from './record.ts'
import { appOf, byCookie, byForm, checkable, people } from './row.ts'
import type { Change, Row } from './row.ts'
import { STORE } from './store.ts'
import { WHO } from './who.ts'

/** What a check costs the app: requests, credentials that the app never gave, credentials that were used before. */
interface Cost { requests: number, wrong: number, replays: number }

/** The rules that fail, those that give advice, and `stopped` where the rest could not be judged. */
async function failing (change: Change): Promise<{ found: string[], cost: Cost }> {
  const { settings, users = people(byForm) } = change
  const app = checkable(change)
  const cost = { requests: 0, wrong: 0, replays: 0 }
  const given = new Set<string>()
  const used = new Set<string>()
  const counting: Injectable = {
    async inject (options) {
      cost.requests++
      const [, token] = options.headers.Authorization?.split('Bearer ') ?? []
      const sent = token ?? new URLSearchParams(options.payload).get('code')
      if (options.url.includes('/oauth/') && sent) {
        if (!given.has(sent)) cost.wrong++
        else if (used.has(sent)) cost.replays++
        used.add(sent)
      }
      const response = await app.inject(options)
      const issued = `${response.headers.location} ${response.body}`
      for (const [value] of issued.matchAll(/(?<=code=|"access_token":")[\w-]+/g)) given.add(value)
      return response
    }
  }
  const { ok, rules, stopped } = await portal({ app: counting, ...SETTINGS, ...settings }).check(users)
  const found = rules.flatMap(({ id, outcome }) =>
    outcome === 'fail' ? [id] : outcome === 'advice' ? [`advice:${id}`] : [])
  t.equal(ok, stopped === undefined && rules.every(({ outcome }) => outcome !== 'fail'), 'ok')
  return { found: stopped === undefined ? found : [...found, 'stopped'], cost }
}

t.test('what a login throws is thrown, at its first use and at a later one', async (t) => {
  for (const address of ['return_to', 'attacker']) {
    const login = async (page: LoginPage) => {
      if (page.url.includes(address)) throw new Error('no browser')
      await page.post({ user: 'ada' })
    }
    const run = portal({ app: partnerApp(), ...SETTINGS }).check({ user: { login } })
    await t.rejects(run, { message: 'no browser' }, address)
  }
})

t.test('a similar redirect_uri that the app has registered is shown', async (t) => {
  const local = 'http://localhost:4180/cb'
  for (const [redirectUri, given] of [
    [PORTAL.redirectUri, `${PORTAL.redirectUri}/`],
    [local, 'http://127.0.0.1:4180/cb'],
    ['http://127.0.0.1:4180/cb', local]
  ] as const) {
    const app = partnerApp({ options: { portal: { ...PORTAL, redirectUri } } })
    const { rules } = await portal({ app, ...SETTINGS, redirectUri: given }).check()
    const { got } = rules.find(({ id }) => id === 'authorize.registered') ?? {}
    t.match(got, new RegExp(`the app has registered ${redirectUri}$`), given)
  }
})

t.test('a cookie whose attributes are not known, beside one of the app, is not judged', async (t) => {
  const prepare: Change['prepare'] = (app) => app.addHook('onRequest', async (_request, reply) => {
    reply.setCookie('lang', 'de', { sameSite: 'lax', path: '/' })
  })
  const { rules } = await portal({ app: appOf({ prepare }), ...SETTINGS }).check({ user: byCookie('ada') })
  t.match(rules.find(({ id }) => id === 'login.cookie'), { outcome: 'untested' })
})

t.test('a session that is renewed is not shown', async (t) => {
  const sessions: string[] = []
  const prepare: Change['prepare'] = (app) => app.addHook('onRequest', async ({ url, cookies }, reply) => {
    const [last = ''] = sessions.slice(-1)
    if (url === '/oauth/user' && sessions.length > 0) return reply.redirect(`/error/${last}`)
    if (cookies.rolling !== undefined || cookies.sid === undefined) return undefined
    sessions.push(crypto.randomUUID())
    reply.setCookie('rolling', String(sessions.at(-1)), { path: '/', maxAge: 0 })
  })
  const run = await portal({ app: appOf({ prepare }), ...SETTINGS }).check({ user: byForm('ada') })
  t.match(run.rules.find(({ id }) => id === 'user.hook'), { outcome: 'fail' })
  for (const session of sessions) t.notMatch(JSON.stringify(run), session, session)
})

const groups = { REACH, LOGIN, WHO, RECORD, FRONT, STORE, CORRECT }
for (const [group, rows] of Object.entries<Row[]>(groups)) {
  for (const [name, change, ...expected] of rows) {
    t.test(`${group}: ${name}`, async (t) => {
      const { found, cost } = await failing(typeof change === 'function' ? change() : change)
      t.strictSame(found, expected)
      const { requests, wrong, replays } = cost
      t.ok(requests <= (group === 'CORRECT' ? 100 : 150), `${requests} requests`)
      if (group === 'CORRECT') t.ok(wrong <= 5 && replays <= 3, JSON.stringify(cost))
    })
  }
}
