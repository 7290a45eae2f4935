// A client of the host's own, of each library whose clients the plugin takes, as it is and wrapped by the host: the
// flow, and what becomes of it when Redis is down, silent, slow, read-only, out of memory, or in the middle of a
// transaction of the host, and when connections are killed.
import { advance, STORE_TIMEOUT, turns } from './clock.ts'
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

const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))

/** Measures each command, as APM agents do: what its `sendCommand` returns is another promise than the command's. */
function wrapped (client: AnyClient): AnyClient {
  const send = client.sendCommand as (...values: unknown[]) => unknown
  return Object.assign(client, {
    commandTime: 0,
    async sendCommand (this: AnyClient & { commandTime: number }, ...values: unknown[]) {
      const start = performance.now()
      try {
        return await send.apply(this, values)
      } finally {
        this.commandTime += performance.now() - start
      }
    }
  })
}

/** Hosts with a client of each library, as it is and wrapped, all on one Redis and kept apart by the key prefix. */
async function hosts (t: Test, port: number): Promise<ClientHost[]> {
  const clients = Object.entries(libraries).flatMap(([name, { redis }]) => [
    { name, client: redis({ port }) },
    { name: `${name}, wrapped`, client: wrapped(redis({ port })) }
  ])
  return await Promise.all(clients.map(async ({ name, client }) => {
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

t.test('out of memory: nothing new can be stored', async (t) => {
  const redis = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const all = await Promise.all((await hosts(t, redis.port)).map(async (one) => {
    return { ...one, kept: await goods(one.host) }
  }))
  await redis.client.config('SET', 'maxmemory', '1')
  await each(t, all, async (t, { host: { portal }, kept }) => {
    t.equal((await portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
    t.equal((await portal.token({ code: kept.code })).status, 503)
    t.equal((await portal.user(kept.token)).status, 200, 'the token is taken')
  })
  await redis.client.config('SET', 'maxmemory', '0')
  await each(t, all, (t, { host }) => signIn(t, host))
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
    changesOnce(t, host, /unexpected reply to/, 3)
  })
})

t.test('no rejection was left unhandled', async (t) => {
  await turns()
  t.strictSame(unhandled, [])
})
