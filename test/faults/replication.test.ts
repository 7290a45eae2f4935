// What asynchronous replication does to single use: a code that was redeemed on a master comes back on the replica that
// is promoted after it, when the master dies before the replica has heard of it. This is Redis, not the plugin. How
// often it happens is counted here for SECURITY.md, and that waiting for the replica (WAIT) holds up the connection is
// shown.
import t from 'tap'
import type { Test } from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { startProxy } from '../helpers/proxy.ts'
import type { Proxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { until } from './scene.ts'

/** Milliseconds: far more than a round takes. */
const FAR_BEHIND = 60_000

const ROUNDS = Number(process.env.REPLICATION_ROUNDS ?? 3)

interface Pair { master: RedisServer, replica: RedisServer, link: Proxy, attach (): Promise<void> }

/** A master and a replica, with a proxy on the way from one to the other. */
async function startPair (t: Test): Promise<Pair> {
  const [master, replica] = await Promise.all([startRedis(t, ['--repl-diskless-sync-delay', '0']), startRedis(t)])
  const link = await startProxy(t, master.port)
  const attach = async () => {
    await replica.client.replicaof('127.0.0.1', link.port)
    t.ok(await until(async () => (await replica.client.info('replication')).includes('master_link_status:up')))
  }
  return { master, replica, link, attach }
}

/** How many of the redeemed codes are back when the master is gone at the moment it has answered. */
async function comeBack ({ master, replica, link, attach }: Pair, lag: number, wait: boolean): Promise<number> {
  const store = withTimeLimit(new RedisStore(master.client, 'p:', 1000), 60_000)
  const promoted = withTimeLimit(new RedisStore(replica.client, 'p:', 1000), 60_000)
  let back = 0
  for (let round = 0; round < ROUNDS; round++) {
    link.delay = 0
    await attach()
    await store.put(`code${round}`, 'value', 3600)
    await master.client.wait(1, 0)
    link.delay = lag
    await store.take(`code${round}`)
    if (wait) await master.client.wait(1, 0)
    link.cut()
    await replica.client.replicaof('NO', 'ONE')
    if (await promoted.take(`code${round}`) !== null) back++
  }
  return back
}

t.test('a redeemed code comes back when the replica lags', async (t) => {
  const pair = await startPair(t)
  for (const lag of [0, 50]) {
    const [without, waited] = [await comeBack(pair, lag, false), await comeBack(pair, lag, true)]
    t.comment(`replica ${lag} ms behind: ${without} of ${ROUNDS} come back; with WAIT 1: ${waited}`)
    t.equal(waited, 0)
  }
  t.equal(await comeBack(pair, FAR_BEHIND, false), ROUNDS)
})

t.test('the price of waiting: each redemption holds up the connection until the replica has answered', async (t) => {
  const { master, link, attach } = await startPair(t)
  await attach()
  const store = withTimeLimit(new RedisStore(master.client, 'p:', 1000), 60_000)
  for (const key of ['first', 'second']) await store.put(key, 'value', 3600)
  await master.client.wait(1, 0)
  // What the replica is sent is held back until `release`.
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  link.hold = released
  const order: string[] = []
  const note = (name: string) => () => { order.push(name) }
  const calls = [
    store.take('first').then(note('taken')),
    master.client.wait(1, 0).then(note('replicated')),
    store.take('second').then(note('taken, later'))
  ]
  const other = master.client.duplicate()
  t.teardown(() => other.disconnect())
  await until(() => order.length > 0)
  await other.ping()
  t.strictSame(order, ['taken'], 'the second waits')
  release()
  await Promise.all(calls)
  t.strictSame(order, ['taken', 'replicated', 'taken, later'])
})
