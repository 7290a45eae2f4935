// The Redis store without a server: what is sent, what counts as a reply, what the log will say of a connection, and
// what the option can be. test/stores and test/faults show the same with real servers.
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { Cluster, Redis, ReplyError } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { isRedisOption, redisUrl } from '../../lib/stores/redis-client.ts'
import { ownClient } from '../../lib/stores/redis-own-client.ts'
import type { ClientOwner } from '../../lib/stores/redis-own-client.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { signOfLife } from '../../lib/stores/sign-of-life.ts'
import { clockOf, turns } from '../clock.ts'
import { rawServer } from '../helpers/listen.ts'
import { until } from '../helpers/until.ts'

/** Milliseconds: a call that is to fail fails then. */
const soon = (milliseconds = 60_000): number => performance.now() + milliseconds

/** A store on a server whose first connection gives SET and GETDEL the first reply, and so on; and what they were. */
async function replying (t: Test, ...replies: string[]) {
  const sent: string[] = []
  let connections = 0
  const { port } = new URL(await rawServer(t, (socket) => {
    connections++
    const reply = replies.shift() ?? ''
    socket.on('error', () => {}).on('data', (bytes) => {
      for (const command of bytes.toString().split(/(?=\*\d+\r\n)/)) {
        const isOurs = /\r\n(?:set|getdel)\r\n/.test(command)
        if (isOurs) sent.push(command.split('\r\n').filter((_, line) => line > 1 && line % 2 === 0).join(' ').trim())
        socket.write(isOurs ? reply : '+OK\r\n')
      }
    })
  }))
  const store = new RedisStore(`redis://127.0.0.1:${port}`, 'prefix:', 60_000)
  t.teardown(() => store.close())
  return { store, sent, connections: () => connections }
}

/** A reply, and what put and the other operations return: undefined for an unexpected reply. */
const replies: Array<[reply: string, put: unknown, value: unknown]> = [
  ['$-1\r\n', false, null],
  ['+OK\r\n', true, 'OK'],
  ['$0\r\n\r\n', undefined, null],
  [':0\r\n', undefined, undefined],
  ['*1\r\n$5\r\nvalue\r\n', undefined, undefined]
]

t.test('one command for each operation; an unexpected reply is not shown: it may be a stored value', async (t) => {
  for (const [reply, put, value] of replies) {
    const { store, sent } = await replying(t, reply)
    for (const [expected, name, call] of [
      [put, 'SET', () => store.put('key', 'value', 60, soon())],
      [value, 'GETDEL', () => store.take('key', soon())],
      [value, 'SET', () => store.revoke('key', 90, soon())]
    ] as const) {
      const result = await call().catch(({ message }: Error) => message)
      const error = `Redis sent an unexpected reply to ${name} (a proxy?)`
      t.equal(result, expected === undefined ? error : expected, `${name} ${inspect(reply)}`)
    }
    t.strictSame(sent, ['set prefix:key value EX 60 NX', 'getdel prefix:key', 'set prefix:key  EX 90 GET'], reply)
  }
})

const READONLY = "-READONLY You can't write against a read only replica.\r\n"
const NOREPLICAS = '-NOREPLICAS Not enough good replicas to write.\r\n'

t.test('a master that takes no writes is left: Sentinel may know another by now', async (t) => {
  for (const reply of [READONLY, NOREPLICAS]) {
    const { store } = await replying(t, reply, '+OK\r\n')
    await t.rejects(store.put('key', 'value', 60, soon()), { message: /^(?:READONLY|NOREPLICAS) / }, reply)
    t.equal(await store.put('key', 'value', 60, soon()), true, reply)
  }
})

t.test('a server that never takes writes is not connected to anew for each request', async (t) => {
  const { store, connections } = await replying(t, ...Array<string>(10).fill(READONLY))
  const { now } = performance
  const time = performance.now()
  t.teardown(() => { performance.now = now })
  performance.now = () => time
  for (let count = 0; count < 20; count++) {
    await t.rejects(store.put('key', 'value', 60, time + 60_000), { message: /^READONLY / }, `request ${count}`)
  }
  // Left once: then no time has passed.
  t.equal(connections(), 2)
})

const temporary = [
  'LOADING Redis is loading', 'CLUSTERDOWN Hash slot not served', 'WRONGPASS invalid',
  'ERR max number of clients reached', 'ERR Connection refused (a proxy)'
]
const forGood = [
  "ERR unknown command 'getdel'", 'unsupported command', 'ERR syntax error',
  "ERR wrong number of arguments for 'set' command", 'NOPERM: app has no ACL permissions',
  "NOPERM this user has no permissions to run the 'getdel' command",
  'ERR The user executing the script can\'t run this command or subcommand',
  'ERR The user can\'t access at least one of the keys mentioned'
]

/** A store that is never connected. */
function away (t: Test, redis: string | RedisOptions = { host: '127.0.0.1', port: 1 }, storeTimeout = 60_000) {
  const store = new RedisStore(redis, '', storeTimeout)
  t.teardown(() => store.close())
  return store
}

t.test('a server that refuses a command for good, and errors of a passing state', async (t) => {
  const store = away(t)
  for (const message of forGood) {
    t.equal(store.unfit(new ReplyError(message)), 'Redis refuses a command that is needed: SET with EX and NX, SET ' +
      'with EX and GET, GETDEL, and of a Cluster CLUSTER SLOTS (Redis 6.2 or later, not renamed, allowed to this user)',
    message)
  }
  const busy = Object.assign(new ReplyError('BUSY Redis is busy running a script.'), { command: { name: 'select' } })
  t.equal(store.unfit(busy), undefined, 'a database that is refused for a while')
  for (const error of [...temporary.map((message) => new ReplyError(message)), new Error(forGood[0]), forGood[0]]) {
    t.equal(store.unfit(error), undefined, String(error))
  }
})

t.test('not connected: the address, the last error as its cause, and never the password', async (t) => {
  const store = away(t, 'redis://name:hush@127.0.0.1:1/2')
  let refusal = ''
  // The first attempt to connect may not have failed yet: then no reason is named.
  await until(async () => {
    refusal = await store.take('key', soon(20)).then(() => 'served: ', ({ message }: Error) => message)
    return refusal.includes(': ')
  })
  t.match(refusal, /^Redis is not connected \(\w+\): connect ECONNREFUSED 127\.0\.0\.1:1$/)
})

t.test('a server that accepts the connection and says nothing is left, and tried again', async (t) => {
  let connections = 0
  const third = new Promise<string>((resolve) => {
    rawServer(t, (socket) => {
      socket.on('error', () => {})
      if (++connections === 3) resolve('a third connection')
    }).then((url) => away(t, { host: '127.0.0.1', port: Number(new URL(url).port) }, 1), resolve)
  })
  t.equal(await third, 'a third connection')
})

/** A client whose duplicate is itself, and which has not sent its first command. */
class FakeClient extends EventEmitter {
  status = 'ready'
  options = {}
  readonly replies = [new Error("Stream isn't writeable and enableOfflineQueue options is false"), 'value']

  duplicate (): this { return this }
  disconnect (): void {}
  async connect (): Promise<void> {}
  async ping (): Promise<string> { return 'PONG' }
  async call (): Promise<unknown> {
    const reply = this.replies.shift()
    if (reply instanceof Error) throw reply
    return reply
  }
}

/** An owner of a client that does not look at what the client tells it. */
const OWNER: ClientOwner = {
  isClosed: () => false, patience: 1000, retryDelay: () => 0, connected () {}, failed () {}, note () {}
}

t.test('what Sentinels have said is the cause of one failure, and not of later ones', async (t) => {
  const client = new FakeClient()
  const reasons: unknown[] = []
  ownClient(client, { ...OWNER, failed: (reason) => reasons.push(reason?.message) })
  for (const message of ['one is away', 'another, too']) client.emit('sentinelError', new Error(message))
  client.emit('error', new Error('All sentinels are unreachable. Retrying from scratch after 10ms.'))
  client.emit('error', new Error('WRONGPASS invalid'))
  t.strictSame(reasons, ['one is away; another, too', 'WRONGPASS invalid'])
})

t.test('a question for a sign of life leaves no listener, whether it is answered or not', async (t) => {
  const client = new FakeClient()
  t.equal(await signOfLife(client as unknown as Redis, 1000), undefined)
  t.equal(client.listenerCount('error'), 0)
  client.ping = async () => { throw new Error('Connection is closed.') }
  t.match(await signOfLife(client as unknown as Redis, 1000), { message: 'Connection is closed.' })
  t.equal(client.listenerCount('error'), 0)
})

t.test('each connection has the whole time to say something, whenever the one before it began', async (t) => {
  const clock = clockOf(t)
  let left = 0
  const client = Object.assign(new FakeClient(), { status: 'connect', disconnect () { left++ } })
  ownClient(client, OWNER)
  const passes = (milliseconds: number): number => {
    clock.pass(milliseconds)
    return left
  }
  clock.run(() => client.emit('connect'))
  t.equal(passes(900), 0)
  clock.run(() => client.emit('connect'))
  t.equal(passes(999), 0, 'the time of the first one has passed, and it is gone')
  t.equal(passes(1), 1)
})

t.test('a client that ioredis has ended is connected again, unless the app was closed meanwhile', async (t) => {
  const clock = clockOf(t)
  let attempts = 0
  const client = Object.assign(new FakeClient(), {
    async connect () {
      attempts++
      throw new Error('Connection is closed.')
    }
  })
  const store = clock.run(() => new RedisStore(client, '', 60_000))
  const ends = (): void => { clock.run(() => client.emit('end')) }
  ends()
  t.equal(attempts, 0, 'not at once')
  clock.pass(500)
  t.equal(attempts, 1)
  ends()
  store.close()
  clock.pass(500)
  ends()
  clock.pass(500)
  t.equal(attempts, 1)
})

t.test('a call whose connection was lost is owed no reply: what is asked later gets half of the time', async (t) => {
  const clock = clockOf(t)
  let left = 0
  const client = Object.assign(new FakeClient(), { disconnect () { left++ } })
  client.replies.splice(0, 2, new Error('Connection is closed.'))
  const store = clock.run(() => new RedisStore(client, '', 60_000))
  const take = async (): Promise<unknown> => await clock.run(() => store.take('key', clock.now + 60_000))
  clock.run(() => client.emit('ready'))
  await t.rejects(take(), { message: /^The connection to Redis was lost/ })
  clock.run(() => client.emit('ready'))
  await turns()

  // Nobody has spoken for ten seconds, and the connection is dead without knowing.
  const { now } = Date
  t.teardown(() => { Date.now = now })
  Date.now = () => now() + 10_000
  client.ping = async () => await new Promise<never>(() => {})
  const refused = t.rejects(take())
  await turns()
  clock.pass(30_000)
  await turns()
  t.equal(left, 0)
  clock.pass(1)
  await turns()
  t.equal(left, 1)
  clock.pass(60_000)
  await refused
})

t.test('what ioredis has not sent, since the connection was being closed, is sent on the next one', async (t) => {
  const client = new FakeClient()
  const store = new RedisStore(client, '', 60_000)
  client.emit('ready')
  const taken = store.take('key', soon())
  while (client.replies.length > 1) await turn()
  client.emit('close')
  client.emit('ready')
  t.equal(await taken, 'value')
})

t.test('what was refused while there was no connection is not sent on the next one', async (t) => {
  const client = new FakeClient()
  client.replies.shift()
  client.status = 'connecting'
  const store = new RedisStore(client, '', 60_000)
  await t.rejects(store.take('refused', soon(1)))
  client.status = 'ready'
  client.emit('ready')
  t.equal(await store.take('key', soon()), 'value')
})

t.test('an outage is not younger for an attempt to connect that failed: refused at once', async (t) => {
  const client = new FakeClient()
  client.status = 'reconnecting'
  const store = new RedisStore(client, '', 1)
  await t.rejects(store.take('key', soon(5)))
  client.emit('close')
  const deadline = soon()
  await t.rejects(store.take('key', deadline))
  t.ok(performance.now() < deadline)
})

t.test('a server that refuses PING is alive: it is not left while it reads its data', async (t) => {
  const client = new FakeClient()
  client.replies.shift()
  const loading = Object.assign(new ReplyError('LOADING Redis is loading'), { command: { name: 'ping' } })
  client.ping = async () => { throw loading }
  const store = new RedisStore(client, '', 60_000)
  client.emit('ready')
  t.equal(await store.take('key', soon()), 'value')
})

t.test('URL kinds: which URLs are taken, and how ioredis gets them', async (t) => {
  for (const [given, got] of [
    ['REDISS://user:pass%20word@a:1/2', 'rediss://user:pass%20word@a:1/2'],
    [' \tReDiS://a/\n', 'redis://a/'],
    ['redis://[::1]:7?family=6', 'redis://[::1]:7?family=6']
  ] as const) t.equal(redisUrl(given), got, given)
  for (const url of [
    'localhost:6379', 'xredis://a', 'redisx://a', 'redis:/:hush@a', 'redis:///0', 'redis://a/orders', 'redis://a/1/2',
    'redis://:hush@a:port', 'redis://%zz@a', 'redis://:%ff@a', 'redis://user:12#hush@a', 'redis://user:12?hush@a'
  ]) t.equal(redisUrl(url), undefined, url)
})

t.test('clients, options, and values that are none of these', async (t) => {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  t.teardown(() => cluster.disconnect())
  const redis = new Redis({ lazyConnect: true })
  for (const value of [redis, cluster, {}, { host: 'a' }, Object.create(null), runInNewContext('({ port: 1 })')]) {
    t.equal(isRedisOption(value), true, inspect(value, { depth: 0 }))
  }
  const others = [
    { isReady: true, options: {}, sendCommand () {}, duplicate () {} },
    { status: 'ready', options: {}, sendCommand () {} },
    { socket: { host: 'localhost' } },
    [],
    new Map()
  ]
  for (const value of others) t.equal(isRedisOption(value), false, inspect(value))
})
