// A client of the host's own, of each library whose clients the plugin takes: the flow, and what becomes of it when
// Redis is down, silent, slow, read-only, or in the middle of a transaction of the host, and when connections are
// killed.
import { advance, STORE_TIMEOUT } from './clock.ts'
import t from 'tap'
import type { Test } from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startProxy } from '../helpers/proxy.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { libraries } from '../helpers/redis-clients.ts'
import type { AnyClient } from '../helpers/redis-clients.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import {
  changesOnce, goods, NOTHING, readyAgain, recovered, scene, signIn, stillGood, timedOut, unavailable, usedUp
} from './scene.ts'
import type { Scene } from './scene.ts'

interface ClientHost { name: string, client: AnyClient, host: Scene }

/** A host with a client of each library, all on one Redis and kept apart by the key prefix. */
async function hosts (t: Test, port: number): Promise<ClientHost[]> {
  return await Promise.all(Object.entries(libraries).map(async ([name, { redis }]) => {
    const client = redis({ port })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    return { name, client, host: await scene(t, { redis: client, keyPrefix: `${name}:` }) }
  }))
}

/** Runs the same on each host, one after the other. */
async function each<T extends ClientHost> (
  t: Test, all: T[], run: (t: Test, each: T) => Promise<unknown>
): Promise<void> {
  for (const one of all) await t.test(one.name, async (t) => { await run(t, one) })
}

t.test('every promise of the store, and sign-ins', async (t) => {
  const { port } = await startRedis(t)
  await each(t, await hosts(t, port), async (t, { client, host }) => {
    await t.resolves(checkStore(withTimeLimit(new RedisStore(client, 'check:', 1000))))
    await Promise.all(Array.from({ length: 20 }, () => signIn(t, host)))
  })
})

t.test('down at the start, and up later', async (t) => {
  const port = await freePort()
  const all = await hosts(t, port)
  await each(t, all, (t, { host }) => unavailable(t, host, NOTHING, 'down'))
  await startRedis(t, [], port)
  await each(t, all, async (t, { host }) => {
    await recovered(t, host)
    changesOnce(t, host, /not connected/, 3)
  })
})

t.test('silent: only what had left is executed', async (t) => {
  const redis = await startRedis(t)
  const all = await Promise.all((await hosts(t, redis.port)).map(async (one) => {
    return { ...one, left: await goods(one.host), kept: await goods(one.host) }
  }))
  redis.process.kill('SIGSTOP')
  for (const { name, host, left } of all) await timedOut(t, host, left, `stopped, ${name}`)
  for (const { name, host, kept } of all) await unavailable(t, host, kept, `still stopped, ${name}`)
  redis.process.kill('SIGCONT')
  for (const { name, host, left, kept } of all) {
    await readyAgain(t, host, name)
    await stillGood(t, host, kept)
    await usedUp(t, host, left)
    changesOnce(t, host, /did not respond in time/, 6)
  }
})

t.test('slower than storeTimeout, and fast again', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const all = await Promise.all((await hosts(t, proxy.port)).map(async (one) => {
    return { ...one, kept: await goods(one.host) }
  }))
  for (const { name, host, kept } of all) {
    proxy.delay = 1.5 * STORE_TIMEOUT
    await timedOut(t, host, NOTHING, `slow, first, ${name}`)
    await unavailable(t, host, kept, `slow, later, ${name}`)
    proxy.delay = 0
    await advance(STORE_TIMEOUT)
  }
  await each(t, all, async (t, { host, kept }) => {
    await readyAgain(t, host)
    await stillGood(t, host, kept)
    await recovered(t, host)
  })
})

t.test('connections are killed', async (t) => {
  const redis = await startRedis(t)
  const all = await hosts(t, redis.port)
  for (let round = 0; round < 3; round++) {
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    for (const { host } of all) await recovered(t, host)
  }
})

t.test('read-only: the master has become a replica', async (t) => {
  const redis = await startRedis(t)
  const all = await Promise.all((await hosts(t, redis.port)).map(async (one) => {
    return { ...one, kept: await goods(one.host) }
  }))
  await redis.client.replicaof('127.0.0.1', 1)
  await each(t, all, (t, { host, kept }) => unavailable(t, host, kept, 'read-only'))
  await redis.client.replicaof('NO', 'ONE')
  await each(t, all, async (t, { host, kept }) => {
    await readyAgain(t, host)
    await stillGood(t, host, kept)
    changesOnce(t, host, /READONLY/, 3)
  })
})

t.test('in a transaction of the host, Redis answers QUEUED: unavailable, and never taken for a value', async (t) => {
  const redis = await startRedis(t)
  const all = await hosts(t, redis.port)
  await each(t, all, async (t, { client, host }) => {
    const call = (name: string) => (client as unknown as { call (name: string): Promise<unknown> }).call(name)
    t.equal(await call('MULTI'), 'OK')
    await unavailable(t, host, NOTHING, 'MULTI')
    await call('DISCARD')
    await recovered(t, host)
    changesOnce(t, host, /something that is no answer to it/, 3)
  })
})
