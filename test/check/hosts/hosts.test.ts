// What a host breaks, one change each: which rules of `check` fail.
import t from 'tap'
import type { User } from '../../../lib/testing/index.ts'
import { portal } from '../../../lib/testing/index.ts'
import { CORRECT } from './correct.ts'
import { FRONT } from './front.ts'
import type { Change, Row } from './host.ts'
import { PORTAL, start } from './host.ts'
import { LOGIN } from './login.ts'
import { REACH } from './reach.ts'
import { RECORD } from './record.ts'
import { STORE } from './store.ts'
import { WHO } from './who.ts'

const as = (user: string): User => ({ login: { user } })
const USERS = { user: [as('ada'), as('cyd')], ineligible: as('bo') }

/** The rules that fail, those that give advice, and `stopped` where the rest could not be judged. */
async function failing (change: Change): Promise<string[]> {
  const { wrap = (start) => start(), double, users = USERS } = change
  const app = await wrap((other) => start(other ?? change))
  const { rules, stopped } = await portal({ app, ...PORTAL, ...double }).check(users)
  const found = rules.flatMap(({ id, outcome }) =>
    outcome === 'fail' ? [id] : outcome === 'advice' ? [`advice:${id}`] : [])
  return stopped === undefined ? found : [...found, 'stopped']
}

t.test('what a login throws is thrown', async (t) => {
  const login = () => { throw new Error('no browser') }
  await t.rejects(portal({ app: await start(), ...PORTAL }).check({ user: { login } }), { message: 'no browser' })
})

t.test('a running server', async (t) => {
  const app = await start()
  t.teardown(() => app.close())
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  t.match(await portal({ baseUrl, ...PORTAL }).check(USERS), { ok: true })
})

t.test('a similar redirect_uri that the app has registered is shown', async (t) => {
  const { redirectUri } = PORTAL
  const { rules } = await portal({ app: await start(), ...PORTAL, redirectUri: `${redirectUri}/` }).check()
  const { got } = rules.find(({ id }) => id === 'authorize.registered') ?? {}
  t.match(got, new RegExp(`the app has registered ${redirectUri}$`))
})

const groups = { REACH, LOGIN, WHO, RECORD, FRONT, STORE, CORRECT }
for (const [group, rows] of Object.entries<Row[]>(groups)) {
  for (const [name, change, ...expected] of rows) {
    t.test(`${group}: ${name}`, async (t) => {
      t.strictSame(await failing(typeof change === 'function' ? change() : change), expected)
    })
  }
}
