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
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { pass, startProxy } from '../helpers/proxy.ts'
import type { Proxy } from '../helpers/proxy.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { clientsWithSettings, hostClients, ofTest } from '../helpers/redis-clients.ts'
import type { AnyClient, Connect } from '../helpers/redis-clients.ts'
import {
  areLogged, issue, names, NEVER_ISSUED, outages, readyAgain, recovered, refusedWhen, scene, signIn, stillGood,
  timedOut, unavailable, unavailableLines, until, usedUp, watch
} from '../helpers/outages.ts'
import type { Scene, Watch } from '../helpers/outages.ts'

const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))

/** Where a host connects to: the plugin makes a client of its own from a URL. */
type Way = Connect | ((port: number) => string)

const OWN = { 'a URL': (port: number) => `redis://127.0.0.1:${port}` }
const usual: Record<string, Way> = { ...OWN, ...hostClients }
const everyWay: Record<string, Way> = { ...usual, ...clientsWithSettings }

interface Place {
  redis: RedisServer
  proxy: Proxy
  seen: Watch
  /** The client of the host. */
  client?: AnyClient | undefined
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
  ways: usual,
  begin: ({ redis }: Place) => redis.process.kill('SIGSTOP'),
  isSilent: true,
  end: ({ redis }: Place) => redis.process.kill('SIGCONT'),
  isExecuted: true,
  cause: /did not respond in time|timed out/
}

const LOST = /connect|closed|lost|in time|timed out|max retries/i

const LOADING = ['--loading-process-events-interval-bytes', '1024', '--rdbcompression', 'no']
// Redis replies each time it has read a key. It would read for longer than any condition is waited for.
const [KEYS, KEY_DELAY] = [10_000, 20_000]
const FILL = "for key = 1, ARGV[1] do redis.call('SET', 'filler' .. key, string.rep('x', 1100)) end"

/** Redis is started again, and the client of the host is connected to it, but has to wait, unless it does not ask. */
const loading = {
  settings: LOADING,
  async begin (place: Place) {
    const { redis: { client, port, process }, proxy, seen } = place
    const [, directory = ''] = await client.config('GET', 'dir') as string[]
    await client.eval(FILL, 0, KEYS)
    await seen.commands()
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
    await until(() => place.client === undefined || place.client.status === 'ready')
  },
  pause: 0,
  async end (place: Place) {
    execFileSync('redis-cli', ['-p', String(place.redis.port), 'CONFIG', 'SET', 'key-load-delay', '0'])
    place.redis = { ...await place.next as RedisServer, client: place.redis.client }
  },
  isExecuted: false
}

const faults: Record<string, Fault> = {
  'Redis is stopped': { ...silence, ways: everyWay, pause: 0 },
  // The connection is given up, and made anew.
  'Redis is stopped for long': { ...silence, pause: 2 * STORE_TIMEOUT },
  'replies are lost after the commands ran': {
    ways: everyWay,
    begin ({ proxy }) { proxy.onReply = () => 'swallow' },
    async then ({ proxy, seen }) {
      await until(() => seen.count === 3)
      proxy.onReply = pass
      proxy.cut()
      // What a client sends before it notices, it may forget.
      await turns()
    },
    isExecuted: true,
    cause: LOST
  },
  'the connection is reset in the middle of a command': {
    ways: everyWay,
    begin ({ proxy }) {
      proxy.onRequest = (bytes) => {
        proxy.onRequest = () => 'cut'
        setImmediate(() => proxy.cut())
        return bytes.subarray(0, 20)
      }
    },
    then ({ proxy }) { proxy.onRequest = pass },
    isExecuted: false,
    cause: LOST
  },
  'the master has become a replica': {
    begin: ({ redis }) => redis.client.replicaof('127.0.0.1', 1),
    pause: 0,
    end: ({ redis }) => redis.client.replicaof('NO', 'ONE'),
    isExecuted: false,
    cause: /READONLY|not connected/
  },
  'the permission is taken away': {
    begin: ({ redis }) => redis.client.call('ACL', 'SETUSER', 'default', '-getdel', '-set'),
    pause: 0,
    end: ({ redis }) => redis.client.call('ACL', 'SETUSER', 'default', '+getdel', '+set'),
    isExecuted: false,
    cause: /NOPERM/
  },
  'the host has begun a transaction': {
    ways: hostClients,
    begin: async ({ client }) => await call(client, 'MULTI'),
    pause: 0,
    end: async ({ client }) => await call(client, 'DISCARD'),
    isExecuted: false,
    cause: /unexpected reply to/
  },
  'Redis reads its data after a restart': { ...loading, ways: OWN, cause: /not connected \(connect, / },
  'Redis reads its data after a restart, and the client does not ask': {
    ...loading,
    ways: { 'no ready check': clientsWithSettings['no ready check'] as Connect },
    cause: /^LOADING/
  }
}

const call = (client: AnyClient | undefined, name: string): Promise<unknown> =>
  (client as unknown as { call (name: string): Promise<unknown> }).call(name)

let count = 0

/** A host on the server at that port, kept apart by its key prefix. */
async function hostOn (t: Test, way: Way, port: number): Promise<{ host: Scene, client: AnyClient | undefined }> {
  const redis = way(port)
  const client = typeof redis === 'string' ? undefined : ofTest(t, redis)
  return { host: await scene(t, { redis, keyPrefix: `sso${count++}:` }), client }
}

/** The fault comes and goes. */
async function suffer (t: Test, fault: Fault, host: Scene, place: Place): Promise<void> {
  const { isSilent = false, isExecuted, pause } = fault
  const [left, kept] = [await issue(host), await issue(host)]
  await place.seen.commands()
  await fault.begin(place)
  if (isSilent) await timedOut(t, host, left)
  else if (pause !== undefined) await unavailable(t, host, left)
  else {
    // Some clients forget what they have sent when the connection is lost; others, connected again, send it again.
    await refusedWhen(t, host, left, async () => {
      await fault.then?.(place)
      await readyAgain(t, host)
    })
  }
  if (pause !== undefined) {
    await advance(pause)
    await unavailable(t, host, kept)
    t.equal(await host.ready(), false)
  }
  await fault.end?.(place)
  await readyAgain(t, host)
  t.strictSame(names(await place.seen.commands()), isExecuted ? ['getdel', 'getdel', 'set'] : [], 'what Redis executed')
  await stillGood(t, host, kept)
  await (isExecuted ? usedUp : stillGood)(t, host, left)
  await recovered(t, host)
  // A lost connection may refuse one request at once, and another when its time is over.
  if (pause === undefined) areLogged(t, host, fault.cause, 3, outages(t, host))
  else areLogged(t, host, fault.cause, 6)
}

for (const [name, fault] of Object.entries(faults)) {
  t.test(name, async (t) => {
    const redis = await startRedis(t, fault.settings)
    const proxy = await startProxy(t, redis.port)
    const place: Place = { redis, proxy, seen: await watch(t, redis.client) }
    for (const [name, way] of Object.entries(fault.ways ?? usual)) {
      await t.test(name, async (t) => {
        const { host, client } = await hostOn(t, way, proxy.port)
        place.client = client
        await suffer(t, fault, host, place)
      })
    }
  })
}

t.test('no fault: every promise of the store', async (t) => {
  const { port } = await startRedis(t)
  await Promise.all(Object.entries(hostClients).map(async ([name, connect]) => {
    const client = ofTest(t, connect(port))
    await until(() => client.status === 'ready')
    await t.resolves(checkStore(withTimeLimit(new RedisStore(client, 'check:', 1000), STORE_TIMEOUT)), name)
  }))
})

t.test('down at the start, and up later', async (t) => {
  const port = await freePort()
  const hosts = await Promise.all(Object.entries(usual).map(async ([name, way]) =>
    ({ name, host: (await hostOn(t, way, port)).host })))
  for (const { name, host } of hosts) {
    t.equal(await host.ready(), false, name)
    await unavailable(t, host, NEVER_ISSUED, name)
  }
  await startRedis(t, [], port)
  for (const [index, { host }] of hosts.entries()) {
    await recovered(t, host)
    areLogged(t, host, index === 0 ? /Redis is not connected.*ECONNREFUSED/ : /not connected/, 3)
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

t.test('a client that cannot send store commands: requests are refused, the log says why', async (t) => {
  const { port } = await startRedis(t)
  const connect = (): Redis => ofTest(t, new Redis(port, { protocol: 2 }))
  const [subscriber, closed] = [connect(), connect()]
  await subscriber.subscribe('news')
  await closed.quit()
  const monitor = ofTest(t, new Redis(port, { protocol: 2, monitor: true }))
  await until(() => (monitor.status as string) === 'monitoring')
  for (const [client, cause] of [
    [subscriber, /subscriber mode/],
    [closed, /not connected \((?:end|close), localhost:\d+\)$/],
    [monitor, /not connected \(monitoring, localhost:\d+\)$/]
  ] as const) {
    // The start waits for the client, which never becomes ready.
    const host = await scene(t, { redis: client, storeTimeout: 100 })
    await unavailable(t, host, NEVER_ISSUED)
    t.match(unavailableLines(host)[0], { cause }, String(cause))
    t.equal(await host.ready(), false, String(cause))
  }
})

t.test('a wrong password, or none: named in the log, and cured without a restart', async (t) => {
  const { client, port, url } = await startRedis(t)
  await client.config('SET', 'requirepass', 'new password')
  await client.auth('new password')
  const wrong = await scene(t, { redis: `redis://:old@127.0.0.1:${port}` })
  const none = await scene(t, { redis: url })
  const connections = async () => Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1])
  for (const [host, password, cause] of [[wrong, 'old', /not connected.*WRONGPASS/], [none, '', /NOAUTH/]] as const) {
    const before = await connections()
    t.ok(await until(async () => await connections() >= before + 3), `it has tried again several times: ${cause}`)
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
  for (const [name, way] of Object.entries({ ...OWN, own: (port: number) => new Redis(port) })) {
    await t.rejects(hostOn(t, way, port), { message: /Redis 6\.2 or later.*unknown command 'getdel'/i }, name)
  }
})

t.test('a client of the host stays as it was, and is not closed with the app', async (t) => {
  const redis = await startRedis(t)
  const client = ofTest(t, new Redis(redis.port))
  await client.ping()
  const stateOf = () => [client.options, client.eventNames().map((name) => [name, client.listenerCount(name)])]
  const before = JSON.stringify(stateOf())
  const host = await scene(t, { redis: client })
  await signIn(t, host)
  t.equal(JSON.stringify(stateOf()), before)
  await host.close()
  t.equal(JSON.stringify(stateOf()), before)
  t.equal(await client.ping(), 'PONG')
})

t.test('the time limit works in real time', async (t) => {
  const redis = await startRedis(t)
  const start = performance.now()
  const client = ofTest(t, new Redis(redis.port))
  await client.ping()
  redis.process.kill('SIGSTOP')
  // The start waits for the store, and so does a request.
  const host = await scene(t, { redis: client, storeTimeout: 20 })
  await unavailable(t, host, NEVER_ISSUED, 'stopped')
  t.ok(performance.now() - start < STORE_TIMEOUT, 'refused in time')
  t.match(unavailableLines(host)[0], { cause: /did not respond in time \(\S+:\d+\)|not connected in time/ })
  redis.process.kill('SIGCONT')
})

t.test('no rejection was left unhandled', async (t) => {
  await turns()
  t.strictSame(unhandled, [])
})
