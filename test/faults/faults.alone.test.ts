// Each fault of Redis, or of the way to it, with each kind of client: the three requests of a sign-in get
// `temporarily_unavailable`, a command is sent once at most and never after its caller has given up, what was not sent
// stays good, and sign-ins succeed when the fault is over.
// Alone: it counts the rejections of the process that nothing handles.
import { advance, STORE_TIMEOUT, turns } from '../helpers/long-timers.ts'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import { startHostProcess } from '../helpers/started.ts'
import { pass, startProxy } from '../helpers/proxy.ts'
import type { Proxy } from '../helpers/proxy.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { hostClients, ofTest, storeOn } from '../helpers/redis-clients.ts'
import type { Connect } from '../helpers/redis-clients.ts'
import { wire } from '../helpers/wire.ts'
import {
  areLogged, executed, issue, NEVER_ISSUED, readyAgain, recovered, refusedWhen, scene, signIn, stillGood, timedOut,
  unavailable, unavailableLines, usedUp
} from '../helpers/outages.ts'
import type { Scene } from '../helpers/outages.ts'
import { until } from '../helpers/until.ts'

const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))

/** Where a host connects to: the plugin makes a connection of its own from each. */
type Way = Connect | ((port: number) => string)

const OWN = { 'a URL': (port: number) => `redis://127.0.0.1:${port}` }
const everyWay: Record<string, Way> = { ...OWN, ...hostClients }

interface Place {
  redis: RedisServer
  proxy: Proxy
  /** The server that comes next. */
  next?: Promise<RedisServer>
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

const silence = {
  begin: ({ redis }: Place) => redis.process.kill('SIGSTOP'),
  isSilent: true,
  end: ({ redis }: Place) => redis.process.kill('SIGCONT'),
  isExecuted: true,
  cause: /did not respond in time/
}

const LOADING = ['--loading-process-events-interval-bytes', '1024', '--rdbcompression', 'no']
// Redis replies each time it has read a key. It would read for longer than any condition is waited for.
const [KEYS, KEY_DELAY] = [10_000, 20_000]
const FILL = "for key = 1, ARGV[1] do redis.call('SET', 'filler' .. key, string.rep('x', 1100)) end"

/** Redis is started again, and the plugin is connected to it. */
const loading = {
  settings: LOADING,
  async begin (place: Place) {
    const { redis: { client, port, process }, proxy } = place
    const [, directory = ''] = await client.config('GET', 'dir') as string[]
    await client.eval(FILL, 0, KEYS)
    await client.save()
    process.kill('SIGKILL')
    await once(process, 'exit')
    const connected = new Promise<void>((resolve) => {
      proxy.onReply = (bytes) => {
        resolve()
        return bytes
      }
    })
    place.next = startRedis(t, [...LOADING, '--dir', directory, '--key-load-delay', String(KEY_DELAY)], port)
    await connected
  },
  async end (place: Place) {
    execFileSync('redis-cli', ['-p', String(place.redis.port), 'CONFIG', 'SET', 'key-load-delay', '0'])
    place.redis = { ...await place.next as RedisServer, client: place.redis.client }
  },
  isExecuted: false
}

const faults: Record<string, Fault> = {
  'Redis is stopped': { ...silence, pause: 0 },
  // The connection is left, and so is the next one, which says nothing either.
  'Redis is stopped for long': { ...silence, pause: 3 * STORE_TIMEOUT },
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
    isSilent: false,
    end: ({ redis }) => redis.client.replicaof('NO', 'ONE'),
    isExecuted: false,
    cause: /READONLY/
  },
  'the permission is taken away': {
    ways: OWN,
    begin: ({ redis }) => redis.client.call('ACL', 'SETUSER', 'default', '-getdel', '-set'),
    pause: 0,
    end: ({ redis }) => redis.client.call('ACL', 'SETUSER', 'default', '+getdel', '+set'),
    isExecuted: false,
    cause: /NOPERM/
  },
  'Redis reads its data after a restart': {
    ...loading, ways: OWN, isSilent: true, pause: 0, cause: /not connected \(/
  },
  'Redis reads its data after a restart, and the client does not ask': {
    ...loading,
    ways: { 'no ready check': hostClients['ioredis 6 with settings'] as Connect },
    pause: 0,
    cause: /^LOADING/
  }
}

let count = 0

/** A host on the server at that port, kept apart by its key prefix. */
async function hostOn (t: Test, way: Way, port: number): Promise<Scene> {
  const redis = way(port)
  return await scene(t, { redis: typeof redis === 'string' ? redis : ofTest(t, redis), keyPrefix: `sso${count++}:` })
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
    await advance(pause)
    await unavailable(t, host, kept)
    t.equal(await host.ready(), false)
  }
  await fault.end?.(place)
  await readyAgain(t, host)
  t.strictSame(await executed(place.redis), isExecuted ? ['getdel', 'getdel', 'set'] : [], 'what Redis executed')
  await stillGood(t, host, kept)
  await (isExecuted ? usedUp : stillGood)(t, host, left)
  await recovered(t, host)
  areLogged(t, host, fault.cause, pause === undefined ? 3 : 6)
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
t.test('no fault: every promise of the store', async (t) => {
  const { port } = await startRedis(t)
  await Promise.all(Object.entries(everyWay).map(async ([name, way]) => {
    const redis = way(port)
    const store = storeOn(t, typeof redis === 'string' ? redis : ofTest(t, redis), `${name}:`)
    await t.resolves(checkStore(store), name)
  }))
})

t.test('down at the start, and up later', async (t) => {
  const port = await freePort()
  const hosts = await Promise.all(Object.entries(everyWay).map(async ([name, way]) =>
    ({ name, host: await hostOn(t, way, port) })))
  await advance(STORE_TIMEOUT)
  for (const { name, host } of hosts) {
    t.equal(await host.ready(), false, name)
    await unavailable(t, host, NEVER_ISSUED, name)
  }
  await startRedis(t, [], port)
  for (const { host } of hosts) {
    await recovered(t, host)
    areLogged(t, host, /Redis is not connected \(\w+\): .*ECONNREFUSED/, 3)
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

/** A sign-in whose first command needs another connection, after Redis was not heard for ten seconds. */
async function signInAfterSilence (t: Test, host: Scene): Promise<void> {
  const { now } = Date
  Date.now = () => now() + 10_000
  const before = host.requests.length
  const signingIn = signIn(t, host)
  await until(() => host.requests[before]?.hasLeft === true)
  await advance(0.6 * STORE_TIMEOUT)
  await signingIn
  Date.now = now
}

t.test('a connection that a firewall forgot while nobody spoke: nobody is refused', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  for (const [name, way] of Object.entries(everyWay)) {
    const host = await hostOn(t, way, proxy.port)
    await signIn(t, host)
    proxy.forget()
    await signInAfterSilence(t, host)
    t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0, name)
  }
})

t.test('frozen process: stopped while Redis closed its connection, it succeeds at its first sign-in', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const host = await startHostProcess(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  for (let round = 0; round < 3; round++) {
    host.process.kill('SIGSTOP')
    if (round > 0) proxy.cut()
    else await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal')
    const code = wire(host.url).code()
    await turns()
    host.process.kill('SIGCONT')
    t.equal((await wire(host.url).token({ code: await code })).status, 200, `round ${round}`)
  }
})

t.test('out of memory: nothing new can be stored; what is there can be used', async (t) => {
  const { client, url } = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const host = await scene(t, { redis: url })
  const { portal } = host
  const { code, token } = await issue(host)
  await client.config('SET', 'maxmemory', '1')
  t.equal(await host.ready(), false)
  t.equal((await portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  t.equal((await portal.user(token)).status, 200, 'the token is taken')
  t.equal((await portal.token({ code })).status, 503, 'the code is taken, and no token can be stored')
  const late = await scene(t, { redis: url })
  t.equal(await late.ready(), false, 'an app starts all the same')
  await client.config('SET', 'maxmemory', '0')
  await recovered(t, host)
  await recovered(t, late)
  t.equal((await portal.token({ code })).status, 400, 'the sign-in starts again')
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

t.test('a wrong password, or none: named in the log, and cured without a restart', async (t) => {
  const { client, port, url } = await startRedis(t)
  await client.config('SET', 'requirepass', 'new password')
  await client.auth('new password')
  const wrong = await scene(t, { redis: `redis://:old@127.0.0.1:${port}` })
  const none = await scene(t, { redis: url })
  for (const [host, password, cause] of [[wrong, 'old', /not connected.*WRONGPASS/], [none, '', /NOAUTH/]] as const) {
    await advance(STORE_TIMEOUT)
    await unavailable(t, host, NEVER_ISSUED, 'refused')
    await client.config('SET', 'requirepass', password)
    await recovered(t, host)
    areLogged(t, host, cause, 3)
  }
})

const RIGHTS = ['+set', '+getdel', '+ping', '+info']

t.test('a user with no more rights than are needed; without any of them the start says so', async (t) => {
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
  for (const missing of RIGHTS.slice(0, 2)) {
    await allow(RIGHTS.filter((right) => right !== missing))
    await t.rejects(scene(t, { redis }), { message: /Redis refuses a command that is needed/ }, missing)
  }
})

t.test('GETDEL is renamed away, or Redis is older than 6.2: the start says so', async (t) => {
  const { port } = await startRedis(t, ['--rename-command', 'GETDEL', ''])
  for (const [name, way] of Object.entries(everyWay)) {
    await t.rejects(hostOn(t, way, port), { message: /Redis 6\.2 or later.*unknown command 'getdel'/i }, name)
  }
})

t.test('the time limit works in real time', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url, storeTimeout: 20 })
  await until(() => host.ready())
  const start = performance.now()
  redis.process.kill('SIGSTOP')
  await unavailable(t, host, NEVER_ISSUED, 'stopped')
  t.ok(performance.now() - start < STORE_TIMEOUT, 'refused in time')
  t.match(unavailableLines(host).at(-1), { cause: /did not respond in time|lost before the reply/ })
  redis.process.kill('SIGCONT')
})

t.test('no rejection was left unhandled', async (t) => {
  await turns()
  t.strictSame(unhandled, [])
})
