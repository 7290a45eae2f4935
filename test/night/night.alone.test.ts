// Does each alert of examples/alerts.yml fire when its cause is there, and resolve after it; and does no other one? Two
// processes of the app behind haproxy, a real Prometheus with the real rules in less time (shortened.ts), people who
// sign in all the time. Each rule prints how it was made to fire, when, and when it resolved.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { WireResponse } from '../helpers/wire.ts'
import { Alerts } from './alerts.ts'
import { FACTOR, atFullLength } from './shortened.ts'
import { RULES, startStage } from './stage.ts'
import { Traffic } from './traffic.ts'

// An hour.
t.setTimeout(3_600_000)

const registered = (clientId: string) => ({
  clientId,
  clientSecret: `the secret of ${clientId}, long enough`,
  loginUrl: `https://portal.example/external-oauth/${clientId}`,
  redirectUri: `https://portal.example/${clientId}/callback`
})
const [live, other] = [registered('live'), registered('other')]

const stage = await startStage(t, [live, other], RULES)
const { entrances, hosts, network, postgres: { pool } } = stage
const alerts = new Alerts(stage.prometheus)
const [people, few] = [new Traffic(entrances.app, live), new Traffic(entrances.app, other)]
people.start()

const now = (): number => Date.now() / 1000

/** Waits for it as long as it takes, and says now and then that it is waiting. */
async function until (t: Test, what: string, condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !await condition(); tries++) {
    await sleep(200)
    if (tries % 150 === 0) t.comment(`waiting until ${what}`)
  }
}

/** Nothing is firing, or about to. */
const quiet = async (t: Test): Promise<void> =>
  await until(t, 'no alert is active', async () => (await alerts.active(['firing', 'pending'])).length === 0)

/** Every rule has been evaluated when what has happened so far was over for that many seconds. */
async function evaluatedAfter (t: Test, seconds: number): Promise<void> {
  const end = now() + seconds
  await until(t, `the rules were evaluated ${seconds} s later`, async () => await alerts.evaluated() > end)
}

/** The longest range but one, fifteen minutes: what has happened has left the rules of rates. */
const LONGEST = 15 * 60 / FACTOR

/** The range of the rules that compare two counts. They may be quiet for a moment while their cause is still in it. */
const COMPARED = 10 * 60 / FACTOR

/** Seconds between two evaluations. */
const INTERVAL = 30 / FACTOR

/** As little traffic as a sign-in in three minutes, in milliseconds. */
const SELDOM = 3 * 60_000 / FACTOR

interface Scene {
  /** The rules that fire, and no other does. */
  fires: string[]
  by: string
  begin (t: Test): unknown
  /** Removes the cause. Nothing, where it was a moment. */
  end? (): unknown
}

/** The cause makes the rules fire, and those alone; they resolve after its end. */
function fires (name: string, { fires, by, begin, end = () => {} }: Scene): void {
  t.test(name, async (t) => {
    await quiet(t)
    const begun = now()
    await begin(t)
    await until(t, `${fires} fire`, async () => {
      const fired = await alerts.firedSince(begun)
      return fires.every((name) => fired.has(name))
    })
    const ended = now()
    await end()
    await evaluatedAfter(t, COMPARED)
    await quiet(t)
    const fired = await alerts.firedSince(begun)
    t.strictSame([...fired.keys()].sort(), [...fires].sort(), 'these have fired, and no other')
    for (const [name, { first, last }] of fired) {
      const [after, since] = [atFullLength(first - begun), atFullLength(last + INTERVAL - ended)]
      t.comment(`${name}: made to fire by ${by}, fired after ${after}, resolved after ${since}`)
    }
  })
}

/** No rule fires. */
function silent (name: string, act: (t: Test) => unknown): void {
  t.test(name, async (t) => {
    await quiet(t)
    const begun = now()
    await act(t)
    await evaluatedAfter(t, LONGEST)
    t.strictSame([...(await alerts.firedSince(begun)).keys()], [], 'no rule fires')
    await quiet(t)
  })
}

const isCompleted = (outcome: string): boolean => outcome === 'completed'

/** So many more sign-ins have ended. */
async function signIns (t: Test, count: number, traffic = people, outcome?: (outcome: string) => boolean) {
  const enough = traffic.ended(outcome) + count
  await until(t, `${count} sign-ins ended`, async () => traffic.ended(outcome) >= enough)
}

/** A code that is redeemed twice. */
async function replay (traffic: Traffic): Promise<void> {
  const code = await traffic.code('u-1') as string
  const responses = [await traffic.at().token({ code }), await traffic.at().token({ code })]
  const statuses = responses.map(({ status }) => status)
  if (statuses.join() !== '200,400') throw new Error(`A replay ended with ${statuses}`)
}

/** None of the sign-ins meanwhile fails. */
async function allComplete (t: Test, act: () => unknown): Promise<void> {
  const failed = (outcome: string): boolean => !isCompleted(outcome)
  const before = people.ended(failed)
  await act()
  await signIns(t, 20)
  t.equal(people.ended(failed), before, 'no sign-in fails')
}

const sql = async (text: string, ...values: unknown[]): Promise<unknown> => await pool.query(text, values)

const pass = network.onRequest
const lose = (): void => {
  network.onRequest = () => 'cut'
  network.cut()
}
const find = (): void => { network.onRequest = pass }

silent('people sign in', async (t) => await allComplete(t, async () => await signIns(t, 50)))

/** The other pages stay up, and each of the three requests of a sign-in gets the documented response. */
async function refusesAlone (t: Test, act: () => void): Promise<void> {
  const portal = people.at()
  const [code, redeemed] = [await people.code('u-1') as string, await people.code('u-2') as string]
  const { json: { access_token: token } } = await portal.token({ code: redeemed })
  act()
  t.equal((await portal.send('/login')).status, 200)
  const browser = await people.code('u-1') as WireResponse
  t.equal(browser.redirect.get('error'), 'temporarily_unavailable')
  for (const { status, json, request } of [await portal.token({ code }), await portal.user(token)]) {
    t.match([status, json], [503, { error: 'temporarily_unavailable' }], request)
  }
}

fires('Redis is gone', {
  fires: ['PartnerSsoStoreUnavailable'],
  by: 'a Redis that cannot be reached, with readiness that says nothing of it',
  begin: async (t) => await refusesAlone(t, lose),
  end: find
})

silent('a sign-in in three minutes', async (t) => {
  await people.stop()
  few.start(1, SELDOM)
  await signIns(t, 5, few)
})

fires('Redis is gone, and nobody notices', {
  fires: ['PartnerSsoStoreUnavailable'],
  by: 'a Redis that cannot be reached, with a sign-in in three minutes',
  begin: lose,
  end: async () => {
    find()
    await few.stop()
    people.start()
  }
})

t.test('the balancer asks for the store', async (t) => {
  await allComplete(t, async () => await hosts.replace({ needsStore: true }))
})

fires('Redis is gone, and the balancer has taken out every process', {
  fires: ['PartnerSsoStoreUnavailable'],
  by: 'a Redis that cannot be reached, while no request reaches a process',
  begin: lose,
  end: find
})

// A gauge says 0 only where the store has less time than a scrape.
t.test('the store must be fast', async () => await hosts.replace({ storeTimeout: 500 }))

fires('Redis hangs', {
  fires: ['PartnerSsoStoreUnavailable'],
  by: 'a Redis that does not respond',
  begin: () => stage.redis.process.kill('SIGSTOP'),
  end: () => stage.redis.process.kill('SIGCONT')
})

fires('Redis is slow', {
  fires: ['PartnerSsoStoreUnavailable'],
  by: 'a Redis that is slower than storeTimeout',
  begin: () => { network.delay = 2000 },
  end: () => { network.delay = 0 }
})

t.test('the store need not be fast', async () => await hosts.replace())

silent('a failover of Redis', async (t) => {
  await stage.failOver()
  await signIns(t, 20, people, isCompleted)
})

fires('the token endpoint cannot be reached', {
  fires: ['PartnerSsoCodesNotExchanged'],
  by: 'a firewall before the token endpoint',
  begin: () => people.change({ url: entrances.withoutToken }),
  end: () => people.change()
})

fires('the secret was changed at the portal', {
  fires: ['PartnerSsoSecretWrong', 'PartnerSsoCodesNotExchanged'],
  by: 'a client secret that was changed at the portal alone',
  begin: () => people.change({ token: { client_secret: 'changed at the portal alone' } }),
  end: () => people.change()
})

fires('a code is replayed', {
  fires: ['PartnerSsoCodeReplayed'],
  by: 'one code that came twice',
  begin: async () => await replay(few)
})

fires('a record is invalid', {
  fires: ['PartnerSsoHostFails'],
  by: 'a user without a name',
  begin: async () => {
    await sql("UPDATE people SET name = '' WHERE id = 'u-3'")
    await few.signIn('u-3')
  },
  end: async () => await sql("UPDATE people SET name = 'Carmen Ruiz' WHERE id = 'u-3'")
})

fires('portalEligibility fails for one user', {
  fires: ['PartnerSsoHostFails'],
  by: 'portalEligibility that throws for one user',
  begin: async () => {
    await sql("DELETE FROM people WHERE id = 'u-3'")
    await few.signIn('u-3')
  },
  end: async () => await sql("INSERT INTO people VALUES ('u-3', 'Carmen Ruiz')")
})

fires('the database is gone', {
  fires: ['PartnerSsoHostFails'],
  by: 'a PostgreSQL that is stopped, which the function `portal` asks',
  begin: async () => {
    hosts.log.length = 0
    await stage.postgres.stop()
  },
  end: async () => await stage.postgres.restart()
})

silent('a rotation of the client secret', async (t) => {
  const next = 'the next secret of live, long enough'
  const deploy = async (...secrets: string[]): Promise<unknown> =>
    await sql("UPDATE integrations SET client_secrets = $1 WHERE client_id = 'live'", secrets)
  await allComplete(t, async () => await deploy(next, live.clientSecret))
  await allComplete(t, () => people.change({ token: { client_secret: next } }))
  await allComplete(t, async () => await deploy(next))
  await allComplete(t, async () => await deploy(live.clientSecret, next))
  await allComplete(t, () => people.change())
  await allComplete(t, async () => await deploy(live.clientSecret))
})

silent('a stop of each process', async (t) => await allComplete(t, async () => await hosts.replace()))

t.test('nobody signed in as another person', async (t) => {
  await people.stop()
  t.equal(people.counts.WRONG, undefined)
  t.ok(people.ended(isCompleted) > 1000)
  for (const [outcome, count] of Object.entries(people.counts)) t.comment(`${outcome}: ${count}`)
  t.comment(`${people.ended()} sign-ins attempted`)
})
