// The Redis store without a server: what is sent, what counts as a reply, and what the log will say of a connection.
// test/stores and test/faults show the same with real servers.
// Alone: it sets the clock of its process.
import { byClock, newClock, pass } from '../helpers/virtual-clock.ts'
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { Cluster, Redis, ReplyError } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { isRedisClient, isRedisOptions, isRedisUrl } from '../../lib/stores/redis-client.ts'
import type { RedisClient } from '../../lib/stores/redis-client.ts'
import type { RedisCommand } from '../../lib/stores/redis-command.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { timers } from '../helpers/timers.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'

/** A client that gives each command the next of these replies. */
function replying (replies: unknown[], options: object = {}) {
  const sent: unknown[][] = []
  const client = {
    status: 'ready',
    options,
    sendCommand (command: RedisCommand) {
      sent.push([command.name, ...command.args])
      const reply = replies.shift()
      if (reply instanceof Error) command.reject(reply)
      else command.resolve(reply)
    },
    connect: async () => {}
  } as unknown as RedisClient
  return { store: withTimeLimit(new RedisStore(client, 'prefix:', 1000)), sent }
}

t.test('one command for each operation, on one key; an empty text is a mark', async (t) => {
  const { store, sent } = replying(['OK', null, 'value', null, '', 'value', null, ''], { keyPrefix: 'host:' })
  t.equal(await store.put('key', 'value', 60), true)
  t.equal(await store.put('key', 'value', 60), false)
  for (const taken of ['value', null, null]) t.equal(await store.take('key'), taken, `take: ${taken}`)
  for (const held of ['value', null, null]) t.equal(await store.revoke('key', 90), held, `revoke: ${held}`)
  const key = 'host:prefix:key'
  t.strictSame(sent.slice(1, 3), [['set', key, 'value', 'EX', '60', 'NX'], ['getdel', key]])
  t.strictSame(sent.at(-1), ['set', key, '', 'EX', '90', 'GET'])
})

t.test('an unexpected reply is an error that does not repeat it: it may be a stored value', async (t) => {
  for (const reply of ['QUEUED', 'value', 7, 1, true, undefined, ['value'], null, {}]) {
    const message = (name: string) => `Redis sent an unexpected reply to ${name} (a connection in MULTI, a proxy)`
    const store = () => replying([reply]).store
    const calls: Array<[name: string, valid: unknown[], call: () => Promise<unknown>]> = [
      ['SET', ['OK', null], () => store().put('k', 'v', 1)],
      ['GETDEL', ['value', null], () => store().take('k')],
      ['SET', ['value', null], () => store().revoke('k', 1)]
    ]
    for (const [name, valid, call] of calls) {
      if (!valid.includes(reply)) await t.rejects(call(), { message: message(name) }, name)
    }
  }
})

/** A store with a client of its own that is never connected. */
function closed (t: Test, options: RedisOptions | string = {}): { store: RedisStore, client: Redis } {
  let client: Redis | undefined
  const { on } = Redis.prototype
  Redis.prototype.on = function (this: Redis, ...args: Parameters<typeof on>) {
    client = this
    return on.apply(this, args)
  } as typeof on
  const target = typeof options === 'string' ? options : { host: '127.0.0.1', port: 1, lazyConnect: true, ...options }
  const store = new RedisStore(target as RedisOptions, '', 800)
  Redis.prototype.on = on
  t.teardown(() => store.close())
  return { store, client: client as unknown as Redis }
}

const temporary = [
  'LOADING Redis is loading', 'READONLY You can\'t write', 'MASTERDOWN Link with MASTER is down',
  'CLUSTERDOWN Hash slot not served', 'OOM command not allowed', 'WRONGPASS invalid', 'NOAUTH Authentication',
  'MISCONF Redis is configured', 'NOREPLICAS Not enough', 'BUSY Redis is busy', 'TRYAGAIN Multiple keys',
  'MOVED 1 a:1', 'ASK 1 a:1', 'ERR max number of clients reached', 'WRONGTYPE Operation against a key',
  // Proxies
  'no upstream host', 'upstream failure', 'ERR Connection refused', 'ERR server busy'
]
const forGood = [
  "ERR unknown command 'getdel'", 'unsupported command', 'ERR syntax error',
  "ERR wrong number of arguments for 'set' command", 'NOPERM: app has no ACL permissions',
  "NOPERM this user has no permissions to run the 'getdel' command",
  'ERR The user executing the script can\'t run this command or subcommand',
  'NOPERM this user has no permissions to access one of the keys used as arguments',
  'ERR The user can\'t access at least one of the keys mentioned'
]

t.test('a server that refuses a command for good, and errors of a passing state', async (t) => {
  const { store } = closed(t)
  for (const message of forGood) {
    t.equal(store.unfit(new ReplyError(message)), 'Redis refuses a command that is needed: SET with EX and NX, SET ' +
      'with EX and GET, and GETDEL (Redis 6.2 or later, not renamed, allowed to this user)', message)
  }
  for (const error of [...temporary.map((message) => new ReplyError(message)), new Error(forGood[0]), forGood[0]]) {
    t.equal(store.unfit(error), undefined, String(error))
  }
})

/** What is logged of a call while there is no connection. */
async function causeOf (store: RedisStore): Promise<Error> {
  const call = store.take('key', performance.now() + 60_000)
  return await call.then(() => new Error('It was served'), (error: Error) => error)
}

t.test('not connected: the address, the last error as its cause, and never the password', async (t) => {
  const { store, client } = closed(t, 'redis://name:hush@127.0.0.1:1/2?lazyConnect=true')
  t.match(await causeOf(store), { message: 'Redis is not connected (wait, 127.0.0.1:1)', cause: undefined })
  const failure = new Error('connect ECONNREFUSED 127.0.0.1:1')
  client.emit('error', failure)
  const refused = await causeOf(store)
  t.equal(refused.message, 'Redis is not connected (wait, 127.0.0.1:1): connect ECONNREFUSED 127.0.0.1:1')
  t.equal(refused.cause, failure)
  client.emit('error', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))
  t.match((await causeOf(store)).message, /: ECONNREFUSED$/, 'of several addresses there is a code only')
  client.emit('ready')
  t.equal((await causeOf(store)).cause, undefined)
  t.match((await causeOf(closed(t, { path: '/run/redis' }).store)).message, /\(wait, \/run\/redis\)$/)
  const sentinels = closed(t, { sentinels: [{ host: 'a', port: 1 }, { host: 'b' }], name: 'mymaster' })
  t.match((await causeOf(sentinels.store)).message, /\(wait, Sentinel a:1 b:26379\)$/)
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  t.teardown(() => cluster.disconnect())
  t.equal((await causeOf(new RedisStore(cluster, '', 800))).message, 'Redis is not connected (wait)')
})

t.test('rediss:// to a port without TLS: said in each form that ioredis reports', async (t) => {
  const { store, client } = closed(t, 'rediss://127.0.0.1:1?lazyConnect=true')
  // A server that refuses the handshake: Node 20, and Node 24 and 26.
  for (const where of ['ssl3_get_record', 'tls_validate_record_header']) {
    const message = `80FC2C936C7F0000:error:0A00010B:SSL routines:${where}:wrong version number:../deps/openssl\n`
    client.emit('error', Object.assign(new Error(message), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }))
    t.match((await causeOf(store)).message, /: ERR_SSL_WRONG_VERSION_NUMBER \(rediss:.* does not speak TLS\)$/, where)
  }
  const connecting = closed(t, 'rediss://127.0.0.1:1?lazyConnect=true')
  Object.assign(connecting.client, { status: 'connecting' })
  t.match((await causeOf(connecting.store)).message,
    /not connected \(connecting, 127\.0\.0\.1:1\) \(rediss:\/\/: does the port speak TLS\?\)$/, 'before any error')
  // Redis itself waits for the end of a line, and sends nothing.
  const timeout = new Error('connect ETIMEDOUT')
  client.emit('error', timeout)
  t.match((await causeOf(store)).message, /: connect ETIMEDOUT \(rediss:\/\/: does the port speak TLS\?\)$/)
  const plain = closed(t)
  Object.assign(plain.client, { status: 'connecting' })
  t.match((await causeOf(plain.store)).message, /\(connecting, 127\.0\.0\.1:1\)$/)
  plain.client.emit('error', timeout)
  t.match((await causeOf(plain.store)).message, /: connect ETIMEDOUT$/)
})

t.test('a client of our own: its defaults, which the options of the host replace', async (t) => {
  const { options } = closed(t).client
  t.match(options, { protocol: 2, connectTimeout: 1600, sentinelCommandTimeout: 1600 })
  t.strictSame([1, 9, 10, 1000].map((times) => options.retryStrategy?.(times)), [50, 450, 500, 500])
  t.equal(options.reconnectOnError?.(new Error("READONLY You can't write against a read only replica.")), true)
  t.equal(options.reconnectOnError?.(new Error('ERR')), false)
  t.match(closed(t, { connectTimeout: 8, db: 2 }).client.options, { connectTimeout: 8, db: 2 })
  const { store, client } = closed(t)
  store.close()
  t.equal(client.status, 'end')
})

t.test('a server that says nothing after the connection is left', async (t) => {
  const clock = newClock()
  const left: string[] = []
  for (const event of ['none', 'ready', 'close']) {
    const { client } = closed(t)
    Object.assign(client, { stream: { destroy: () => left.push(event) } })
    byClock(clock, () => {
      client.emit('connect')
      client.emit(event)
    })
  }
  pass(clock, 1599)
  t.strictSame(left, [])
  pass(clock, 1)
  t.strictSame(left, ['none'])
})

class Client extends EventEmitter {
  status = 'connecting'
  options = {}
  connections = 0
  async connect (): Promise<void> { this.connections++; throw new Error('It cannot') }
  sendCommand (): void {}
}

t.test('the first attempt to connect is waited for, once', async (t) => {
  for (const [status, event] of [['connecting', 'ready'], ['wait', 'error'], ['connecting', 'deadline']] as const) {
    const clock = newClock()
    const client = Object.assign(new Client(), { status })
    const store = new RedisStore(client, '', 1000)
    const before = timers()
    let waiting = 2
    byClock(clock, () => {
      for (let count = 0; count < 2; count++) store.connected(clock.now + 40).then(() => waiting--, () => {})
    })
    pass(clock, 39)
    for (let turns = 0; turns < 5; turns++) await turn()
    t.equal(waiting, 2, status)
    if (event === 'deadline') pass(clock, 1)
    else client.emit(event, new Error('It failed'))
    for (let turns = 0; turns < 5; turns++) await turn()
    t.equal(waiting, 0, event)
    t.equal(client.connections, status === 'wait' ? 1 : 0, `${event}: a client made with lazyConnect`)
    t.strictSame(client.eventNames(), [], `${event}: no listener is left`)
    t.equal(timers() + clock.timers.size, before, `${event}: nor a timer`)
    await store.connected(performance.now() + 60_000)
  }
  const ready = new RedisStore(Object.assign(new Client(), { status: 'ready' }), '', 1000)
  await ready.connected(performance.now() + 60_000)
})

t.test('clients, options, URLs, and values that are none of these', async (t) => {
  const kinds = (value: unknown): string[] => Object.entries({ isRedisClient, isRedisOptions, isRedisUrl })
    .flatMap(([name, is]) => is(value) ? [name] : [])
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  t.teardown(() => cluster.disconnect())
  t.strictSame(kinds(new Redis({ lazyConnect: true })), ['isRedisClient'])
  t.strictSame(kinds(cluster), ['isRedisClient'])
  for (const options of [{}, { host: 'a' }, Object.create(null), runInNewContext('({ port: 1 })')]) {
    t.strictSame(kinds(options), ['isRedisOptions'], inspect(options))
  }
  for (const url of ['redis://a', 'rediss://user:pass%20word@a:1/2']) t.strictSame(kinds(url), ['isRedisUrl'], url)
  // As node-redis has it.
  class OtherClient { isReady = true; options = {}; sendCommand (): void {} connect (): void {} }
  const others = [new OtherClient(), { ...new OtherClient(), sendCommand () {} }, { status: 'ready' }, [], [{}],
    new Map(), null, undefined, 7, () => {}, '', 'localhost:6379', 'http://a', 'redis://%zz@a', new URL('redis://a')]
  for (const value of others) t.strictSame(kinds(value), [], inspect(value))
})
