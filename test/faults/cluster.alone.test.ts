// A Redis Cluster of three masters with replicas, while slots move and while masters hang and die.
// Alone: it sets the clock of its process.
import { advance, STORE_TIMEOUT, turns } from '../helpers/long-timers.ts'
import { once } from 'node:events'
import { Command } from 'ioredis'
import t from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startProxy } from '../helpers/proxy.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { clusterClients, ofTest } from '../helpers/redis-clients.ts'
import { startCluster } from '../helpers/cluster.ts'
import {
  areLogged, failedOver, issue, names, NEVER_ISSUED, readyAgain, refusedWhen, replicated, scene, signIn, stillGood,
  timedOut, unavailable, until, usedUp, watch
} from '../helpers/outages.ts'

const cluster = await startCluster(t)

/** A key prefix that puts all keys in one slot, that slot, the master that serves it, and another one. */
async function oneSlot (tag: string) {
  const keyPrefix = `{${tag}}:`
  const slot = new Command('get', [keyPrefix]).getSlot() as number
  const from = await cluster.owner(slot)
  return { keyPrefix, slot, from, to: cluster.masters.find((node) => node !== from) as RedisServer }
}

/** A key prefix that puts all keys on that master. */
async function prefixOn (node: RedisServer): Promise<string> {
  for (let tag = 0; ; tag++) {
    const { keyPrefix, from } = await oneSlot(String(tag))
    if (from === node) return keyPrefix
  }
}

t.test('clients of each library: every promise of the store, and no sign-in fails', async (t) => {
  await Promise.all(clusterClients.map(async ({ name, connect }) => {
    const client = ofTest(t, connect(cluster.addresses))
    t.ok(await until(() => client.status === 'ready'), name)
    await t.resolves(checkStore(withTimeLimit(new RedisStore(client, `${name}:`, 1000), STORE_TIMEOUT)), name)
    const host = await scene(t, { redis: client, keyPrefix: `${name} host:` })
    await Promise.all(Array.from({ length: 10 }, () => signIn(t, host)))
  }))
})

t.test('while a slot moves (ASK), and after it has (MOVED)', async (t) => {
  const { keyPrefix, slot, to } = await oneSlot('moving')
  const client = cluster.connect()
  const host = await scene(t, { redis: client, keyPrefix })
  const [asked, moved] = [await issue(host), await issue(host)]
  const asking = await watch(t, to.client)

  await cluster.beginMove(slot, to)
  const store = withTimeLimit(new RedisStore(client, keyPrefix, 1000), STORE_TIMEOUT)
  await t.resolves(checkStore(store), 'the store keeps its promises meanwhile')
  await signIn(t, host)
  t.ok((await asking.commands()).length > 0, 'the new node was asked')
  await stillGood(t, host, asked)

  await cluster.finishMove(slot, to)
  t.equal(await cluster.owner(slot), to)
  await stillGood(t, host, moved)
  await signIn(t, host)
  t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0, 'nobody was refused')
})

t.test('redirected after the time is over: not sent to the new node', async (t) => {
  const { keyPrefix, slot, from, to } = await oneSlot('late')
  const proxy = await startProxy(t, from.port)
  const client = cluster.connect({ natMap: { [`127.0.0.1:${from.port}`]: { host: '127.0.0.1', port: proxy.port } } })
  const host = await scene(t, { redis: client, keyPrefix })
  const kept = await issue(host)
  await cluster.beginMove(slot, to)
  await cluster.finishMove(slot, to)
  const seen = await watch(t, to.client)
  let held = 0
  proxy.onReply = (bytes) => {
    held++
    return bytes
  }
  proxy.delay = 2 * STORE_TIMEOUT
  await timedOut(t, host, kept, 'MOVED too late')
  await until(() => held > 0)
  proxy.delay = 0
  await advance(3 * STORE_TIMEOUT)
  await readyAgain(t, host)
  t.strictSame(await seen.commands(), [], 'nothing was sent later')
  await stillGood(t, host, kept)
})

const givenUp = {
  'by the plugin': {},
  'by a commandTimeout of the host': { commandTimeout: STORE_TIMEOUT / 3 }
}

for (const [name, redisOptions] of Object.entries(givenUp)) {
  t.test(`waiting for the connection to a node that hangs, given up ${name}: never sent`, async (t) => {
    const client = cluster.connect({ redisOptions })
    t.ok(await until(() => client.status === 'ready'))
    // ioredis connects to a node when it first needs it.
    const waiting = client.nodes('master').filter(({ status }) => status === 'wait').map(({ options }) => options.port)
    const node = cluster.masters.find(({ port }) => waiting.includes(port)) as RedisServer
    const store = withTimeLimit(new RedisStore(client, await prefixOn(node), 1000), STORE_TIMEOUT)
    const seen = await watch(t, node.client)
    node.process.kill('SIGSTOP')
    const refused = t.rejects(store.take('a key'), /in time|timed out/)
    await turns()
    await advance(STORE_TIMEOUT)
    await refused
    node.process.kill('SIGCONT')
    t.ok(await until(async () => await store.put('another key', 'value', 1).catch(() => false)), 'available again')
    t.strictSame([...new Set(names(await seen.commands()))], ['set'], 'nothing was sent later')
  })
}

t.test('the cluster is down: refused when the time is over, and nothing is executed later', async (t) => {
  const node = await cluster.owner(0)
  const host = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(node) })
  const kept = await issue(host)
  const isDown = async () => (await node.client.cluster('INFO') as string).includes('cluster_state:fail')
  await node.client.cluster('DELSLOTS', 0)
  t.ok(await until(isDown), 'a slot that nobody serves')
  const seen = await watch(t, node.client)
  // ioredis looks for another node until the time is over.
  await refusedWhen(t, host, kept)
  await node.client.cluster('ADDSLOTS', 0)
  t.ok(await until(async () => !await isDown()))
  await readyAgain(t, host)
  await stillGood(t, host, kept)
  t.strictSame(names(await seen.commands()), ['getdel', 'getdel', 'set'], 'only the commands of stillGood')
  areLogged(t, host, /CLUSTERDOWN|in time/, 3)
})

t.test('a master hangs for less than it takes to fail over', async (t) => {
  const [node, other] = cluster.masters as [RedisServer, RedisServer]
  const seen = await watch(t, node.client)
  const host = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(node) })
  const elsewhere = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(other) })
  const [left, kept] = [await issue(host), await issue(host)]
  await seen.commands()
  node.process.kill('SIGSTOP')
  await timedOut(t, host, left, 'master stopped')
  await unavailable(t, host, kept, 'master still stopped')
  await signIn(t, elsewhere)
  node.process.kill('SIGCONT')
  await readyAgain(t, host)
  t.strictSame(names(await seen.commands()), ['getdel', 'getdel', 'set'], 'only what was sent before')
  await stillGood(t, host, kept)
  await usedUp(t, host, left)
  areLogged(t, host, /did not respond in time/, 6)
})

const failovers = [
  { signal: 'SIGKILL', node: cluster.masters[0] as RedisServer, redisOptions: {} },
  // Without it the client never leaves a node that hangs.
  { signal: 'SIGSTOP', node: cluster.masters[1] as RedisServer, redisOptions: { socketTimeout: 2 * STORE_TIMEOUT } }
] as const

for (const { signal, node, redisOptions } of failovers) {
  t.test(`a master gets ${signal}: refused, then served by its replica`, async (t) => {
    const host = await scene(t, { redis: cluster.connect({ redisOptions }), keyPrefix: await prefixOn(node) })
    const kept = await issue(host)
    await replicated(node)
    node.process.kill(signal)
    if (signal === 'SIGSTOP') {
      await timedOut(t, host, NEVER_ISSUED)
    } else {
      await once(node.process, 'exit')
      await refusedWhen(t, host, kept)
    }
    await cluster.replace(node)
    await failedOver(t, host)
    await stillGood(t, host, kept)
    await signIn(t, host)
    node.process.kill('SIGCONT')
  })
}
