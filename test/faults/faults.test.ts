// Each fault of Redis, or of the way to it, with each kind of client: the three requests of a sign-in get
// `temporarily_unavailable`, a command is sent once at most and never after its caller has given up, what was not sent
// stays good, and sign-ins succeed when the fault is over.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { shiftedClocks, turns } from '../clock.ts'
import { startAppProcess } from '../helpers/started.ts'
import { pass, startProxy } from './proxy.ts'
import type { Proxy } from './proxy.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { hostClients, ofTest, STORE_TIMEOUT } from '../helpers/redis-clients.ts'
import type { Connect } from '../helpers/redis-clients.ts'
import { wire } from '../wire.ts'
import {
  areLogged, executed, issue, NEVER_ISSUED, readyAgain, recovered, refusedWhen, scene, signIn, stillGood, timedOut,
  unavailable, usedUp
} from './outages.ts'
import type { Scene } from './outages.ts'
import { until } from '../helpers/until.ts'

/** Where a host connects to: the plugin makes a connection of its own from each. */
type Way = Connect | ((port: number) => string)

const OWN = { 'a URL': (port: number) => `redis://127.0.0.1:${port}` }
const everyWay: Record<string, Way> = { ...OWN, ...hostClients }

interface Place {
  redis: RedisServer
  proxy: Proxy
}

interface Fault {
  ways?: Record<string, Way>
  /** The command line of redis-server. */
  settings?: string[]
  begin (place: Place): unknown
  /** What happens once the first three requests have sent their commands. */
  then? (place: Place): unknown
  /** Whether Redis says nothing: a request is refused when storeTimeout has passed. */
  isSilent?: boolean
  /** Milliseconds that pass before the next three requests. Undefined: the fault is over by then. */
  pause?: number
  end? (place: Place): unknown
  /** Whether the first three commands are executed, and no others are. */
  isExecuted: boolean
  cause: RegExp
}

// Redis replies each time it has read a key. It would read for longer than any condition is waited for.
const SLOW_LOADING = [
  '--enable-debug-command', 'local', '--loading-process-events-interval-bytes', '1024', '--rdbcompression', 'no',
  '--key-load-delay', '20000'
]
const FILL = "for key = 1, 10000 do redis.call('SET', 'filler' .. key, string.rep('x', 1100)) end"

/** A command that is allowed while Redis reads its data, when a client's connection is not. */
const command = ({ redis }: Place, ...args: string[]): string =>
  execFileSync('redis-cli', ['-p', String(redis.port), ...args], { encoding: 'utf8' })

const faults: Record<string, Fault> = {
  // The connection is left, and so is the next one, which says nothing either.
  'Redis is stopped for long': {
    begin: ({ redis }) => redis.process.kill('SIGSTOP'),
    isSilent: true,
    pause: 3 * STORE_TIMEOUT,
    end: ({ redis }) => redis.process.kill('SIGCONT'),
    isExecuted: true,
    cause: /did not respond in time/
  },
  'replies are lost after the commands ran': {
    begin ({ proxy }) { proxy.onReply = () => 'swallow' },
    async then ({ proxy, redis }) {
      await until(async () => (await executed(redis)).length === 3)
      proxy.onReply = pass
      proxy.cut()
    },
    isExecuted: true,
    cause: /lost before the reply came/
  },
  'the connection is reset in the middle of a command': {
    begin ({ proxy }) {
      proxy.onRequest = (bytes) => {
        proxy.onRequest = () => 'cut'
        setImmediate(() => proxy.cut())
        return bytes.subarray(0, 20)
      }
    },
    then ({ proxy }) { proxy.onRequest = pass },
    isExecuted: false,
    cause: /lost before the reply came/
  },
  'the master has become a replica': {
    ways: OWN,
    begin: ({ redis }) => redis.client.replicaof('127.0.0.1', 1),
    end: ({ redis }) => redis.client.replicaof('NO', 'ONE'),
    isExecuted: false,
    cause: /READONLY/
  },
  'Redis reads its data': {
    ways: OWN,
    settings: SLOW_LOADING,
    async begin (place) {
      const { client } = place.redis
      await client.eval(FILL, 0)
      await client.slowlog('RESET')
      client.call('DEBUG', 'RELOAD').catch(() => {})
      await until(() => command(place, 'PING').startsWith('LOADING'))
    },
    pause: 0,
    end: (place) => command(place, 'CONFIG', 'SET', 'key-load-delay', '0'),
    isExecuted: false,
    cause: /^LOADING/
  }
}

let count = 0

/** A host on the server at that port, kept apart by its key prefix. */
async function hostOn (t: Test, way: Way, port: number): Promise<Scene> {
  const redis = way(port)
  return await scene(t, { redis: typeof redis === 'string' ? redis : ofTest(t, redis), keyPrefix: `sso${count++}:` })
}

/** A server on that port which ends each connection, once there has been one. */
async function connectedTo (t: Test, port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'connection')
  return server
}

/** The fault comes and goes. */
async function suffer (t: Test, fault: Fault, host: Scene, place: Place): Promise<void> {
  const { isSilent = false, isExecuted, pause } = fault
  const [left, kept] = [await issue(host), await issue(host)]
  await place.redis.client.slowlog('RESET')
  await fault.begin(place)
  if (isSilent) await timedOut(t, host, left)
  else if (pause !== undefined) await unavailable(t, host, left)
  else await refusedWhen(t, host, left, () => fault.then?.(place))
  if (pause !== undefined) {
    await host.advance(pause)
    await unavailable(t, host, kept)
    t.equal(await host.ready(), false)
  }
  await fault.end?.(place)
  await readyAgain(t, host)
  t.strictSame(await executed(place.redis), isExecuted ? ['getdel', 'getdel', 'set'] : [], 'what Redis executed')
  await stillGood(t, host, kept)
  await (isExecuted ? usedUp : stillGood)(t, host, left)
  await recovered(t, host)
  await areLogged(t, host, fault.cause, pause === undefined ? 3 : 6)
}

for (const [name, fault] of Object.entries(faults)) {
  t.test(name, async (t) => {
    const redis = await startRedis(t, fault.settings)
    const proxy = await startProxy(t, redis.port)
    const place: Place = { redis, proxy }
    for (const [name, way] of Object.entries(fault.ways ?? everyWay)) {
      await t.test(name, async (t) => await suffer(t, fault, await hostOn(t, way, proxy.port), place))
    }
  })
}

t.test('down at the start, and up later', async (t) => {
  const port = await freePort()
  const hosts = await Promise.all(Object.values(everyWay).map((way) => hostOn(t, way, port)))
  for (const host of hosts) {
    await host.advance(STORE_TIMEOUT)
    await unavailable(t, host, NEVER_ISSUED)
  }
  await startRedis(t, [], port)
  for (const host of hosts) {
    await recovered(t, host)
    await areLogged(t, host, /Redis is not connected \(\w+\): .*ECONNREFUSED/, 3)
  }
})

t.test('restarted: requests wait for the connection, and nobody is refused', async (t) => {
  for (const [name, way] of Object.entries(everyWay)) {
    const { port, process } = await startRedis(t)
    const host = await hostOn(t, way, port)
    await signIn(t, host)
    process.kill('SIGKILL')
    await once(process, 'exit')
    const signingIn = signIn(t, host)
    await turns()
    await startRedis(t, [], port)
    await signingIn
    t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0, name)
  }
})

t.test('Redis has died while nobody spoke: the first request is refused at once, as the outage is old', async (t) => {
  for (const [name, way] of Object.entries(everyWay)) {
    const { port, process } = await startRedis(t)
    const host = await hostOn(t, way, port)
    await signIn(t, host)
    process.kill('SIGKILL')
    await once(process, 'exit')
    // The host has seen it: it is connecting again.
    const proxied = await connectedTo(t, port)
    await host.advance(STORE_TIMEOUT + 1)
    // A request that waited for storeTimeout would have no response: the clock is not set forward again.
    await unavailable(t, host, NEVER_ISSUED, name)
    proxied.close()
  }
})

t.test('a Redis that is slow but speaks: a request is refused, and the connection stays', async (t) => {
  const redis = await startRedis(t)
  const connections = async () => /total_connections_received:(\d+)/.exec(await redis.client.info('stats'))?.[1]
  for (const [name, way] of Object.entries(everyWay)) {
    const host = await hostOn(t, way, redis.port)
    await signIn(t, host)
    const before = await connections()
    redis.process.kill('SIGSTOP')
    await timedOut(t, host, NEVER_ISSUED, name)
    // Its replies come now: those that are owed, and that to PING.
    await host.advance(0.9 * STORE_TIMEOUT)
    redis.process.kill('SIGCONT')
    await recovered(t, host)
    t.equal(await connections(), before, `${name}: it is the same connection`)
    await areLogged(t, host, /did not respond in time/, 3)
  }
})

t.test('a connection that a firewall forgot while nobody spoke: nobody is refused', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const clocks = shiftedClocks(t)
  for (const [name, way] of Object.entries(everyWay)) {
    const host = await hostOn(t, way, proxy.port)
    // Redis was not heard for ten seconds, or for how long nobody knows, as the time of day was set back: the first
    // command needs another connection.
    for (const seconds of [10, -3600]) {
      await signIn(t, host)
      proxy.forget()
      clocks.setDate(seconds)
      const before = host.requests.length
      const signingIn = signIn(t, host)
      await until(() => host.requests[before]?.hasLeft === true)
      await host.advance(0.6 * STORE_TIMEOUT)
      await signingIn
      clocks.setDate(0)
      const lost = host.events.filter(({ type }) => type === 'store_unavailable')
      t.strictSame(lost, [], `${name}: the time of day is ${seconds} s later`)
    }
  }
})

t.test('frozen process: stopped while Redis closed its connection, it succeeds at its first sign-in', async (t) => {
  const redis = await startRedis(t)
  const host = await startAppProcess(t, { redis: redis.url })
  const portal = wire(host.url)
  // So that the request comes by a connection that is open.
  await portal.accessToken()
  host.process.kill('SIGSTOP')
  await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal')
  const code = portal.code()
  await turns()
  host.process.kill('SIGCONT')
  t.equal((await portal.token({ code: await code })).status, 200)
})

t.test('a client of the host serves in any state, stays as it was, and is not closed with the app', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const { port } = proxy
  const connect = (): Redis => ofTest(t, new Redis(port, { protocol: 2 }))
  const [usual, subscriber, closed, inTransaction] = [connect(), connect(), connect(), connect()]
  const monitor = ofTest(t, new Redis(port, { protocol: 2, monitor: true }))
  await subscriber.subscribe('news')
  await closed.quit()
  await inTransaction.call('MULTI')
  await usual.ping()
  await until(() => (monitor.status as string) === 'monitoring')
  for (const client of [usual, subscriber, closed, inTransaction, monitor]) {
    const stateOf = () => JSON.stringify([
      client.status, client.options, client.eventNames().map((name) => [name, client.listenerCount(name)])
    ])
    const [before, { connections }] = [stateOf(), proxy]
    const host = await scene(t, { redis: client })
    await signIn(t, host)
    t.equal(proxy.connections, connections + 1, client.status)
    await host.close()
    t.ok(await until(() => proxy.connections === connections), `${client.status}: nothing is left open`)
    t.equal(stateOf(), before, client.status)
  }
  t.equal(await usual.ping(), 'PONG')
})

const RIGHTS = ['+set', '+getdel', '+ping']

t.test('no more rights than are needed; without one the start says so, and a host is unavailable', async (t) => {
  const { client, port } = await startRedis(t)
  const redis = `redis://sso:pass@127.0.0.1:${port}`
  const allow = async (rights: string[]) =>
    await client.call('ACL', 'SETUSER', 'sso', 'reset', 'on', '>pass', '~partner-sso:*', ...rights)
  await allow(RIGHTS)
  const host = await scene(t, { redis })
  await signIn(t, host)
  const code = await host.portal.code()
  const { access_token: token } = (await host.portal.token({ code })).json
  t.equal((await host.portal.token({ code })).status, 400)
  t.equal((await host.portal.user(token)).status, 401, 'a replay revokes')
  for (const missing of ['+set', '+getdel']) {
    await allow(RIGHTS.filter((right) => right !== missing))
    await t.rejects(scene(t, { redis }), { message: /Redis refuses a command that is needed/ }, missing)
  }
  await allow([])
  await unavailable(t, host, NEVER_ISSUED)
})

t.test('GETDEL is renamed away, or Redis is older than 6.2: the start says so', async (t) => {
  const { url } = await startRedis(t, ['--rename-command', 'GETDEL', ''])
  await t.rejects(scene(t, { redis: url }), { message: /Redis 6\.2 or later.*unknown command 'getdel'/i })
})
