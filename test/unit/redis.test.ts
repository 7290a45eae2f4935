// The Redis store and its client without a server: what is sent, and what the client is told to do. test/stores,
// test/flow/redis and test/faults show the same with real ones.
import { Cluster, Redis } from 'ioredis'
import { EventEmitter } from 'node:events'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { isRedisClient, isRedisOptions, isRedisUrl, type RedisClient } from '../../lib/stores/redis-client.ts'
import { openConnection, whenReady } from '../../lib/stores/redis-connection.ts'
import { openRedis, redisStore } from '../../lib/stores/redis.ts'
import { type RedisCommand } from '../../lib/stores/redis-command.ts'
import { until } from '../faults/scene.ts'
import { timers } from '../helpers/timers.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'

interface Teardown { teardown (stop: () => unknown): void }

interface Sent { name: string, args: unknown[] }

/** A client that answers each command with the next of these. */
function answering (answers: unknown[], options: object = {}): { client: Redis, sent: Sent[] } {
  const sent: Sent[] = []
  const client = {
    status: 'ready',
    options,
    sendCommand (command: RedisCommand) {
      sent.push({ name: command.name, args: [...command.args] })
      const answer = answers.shift()
      if (answer instanceof Error) command.reject(answer)
      else command.resolve(answer)
    }
  }
  return { client: client as unknown as Redis, sent }
}

/** A client of the plugin's own that is never connected. */
function closedClient (
  t: Teardown, milliseconds = 250, refused: string[] = []
): { client: Redis, trouble: () => string } {
  const options = { host: '127.0.0.1', port: 1, lazyConnect: true }
  const { client, trouble, close } = openConnection(options, milliseconds, (cause) => refused.push(cause))
  t.teardown(close)
  return { client: client as Redis, trouble }
}

t.test('put sets what is not there, for its lifetime', async (t) => {
  const { client, sent } = answering(['OK', null])
  const store = withTimeLimit(redisStore(client, 'prefix:'), 1000)
  t.equal(await store.put('key', 'value', 60), true)
  t.equal(await store.put('key', 'value', 60), false)
  t.strictSame(sent[0], { name: 'set', args: ['prefix:key', 'value', 'EX', '60', 'NX'] })
})

t.test('take gives the value and removes it', async (t) => {
  const { client, sent } = answering(['value', null], { keyPrefix: 'host:' })
  const store = withTimeLimit(redisStore(client, 'prefix:'), 1000)
  t.equal(await store.take('key'), 'value')
  t.equal(await store.take('key'), null)
  t.strictSame(sent, [{ name: 'getdel', args: ['host:prefix:key'] }, { name: 'getdel', args: ['host:prefix:key'] }])
})

t.test('revoke sets a mark in one command, whose answer says whether a value was there', async (t) => {
  const { client, sent } = answering(['value', null, '!90'])
  const store = withTimeLimit(redisStore(client, ''))
  t.equal(await store.revoke('key', 90), true, 'a value')
  t.equal(await store.revoke('key', 90), false, 'nothing')
  t.equal(await store.revoke('key', 90), false, 'a mark')
  t.strictSame(sent, Array(3).fill({ name: 'set', args: ['key', '!90', 'EX', '90', 'GET'] }))
})

t.test('what was revoked stays revoked though take has removed the mark', async (t) => {
  const { client, sent } = answering(['!90', 'OK'])
  t.equal(await withTimeLimit(redisStore(client, 'p:')).take('key'), null)
  t.strictSame(sent, [{ name: 'getdel', args: ['p:key'] }, { name: 'set', args: ['p:key', '!90', 'EX', '90'] }])
})

t.test('the mark is put back also when the answer comes after the time limit', async (t) => {
  const { client, sent } = answering(['OK', 'OK', 'OK'])
  const commands: RedisCommand[] = []
  const { sendCommand } = client
  const silent = (command: RedisCommand): void => {
    command.toWritable({ writableCorked: 1 })
    commands.push(command)
  }
  Object.assign(client, { sendCommand: silent })
  const store = redisStore(client, '')
  for (const key of ['revoked', 'held', 'free']) {
    const taken = store.take(key, performance.now() + 60_000)
    commands.at(-1)?.expire()
    await t.rejects(taken, { message: 'Redis did not answer in time' })
  }
  Object.assign(client, { sendCommand })
  const answers = [Buffer.from('!90'), Buffer.from('value'), null]
  for (const [index, answer] of answers.entries()) commands[index]?.resolve(answer)
  t.strictSame(sent, [{ name: 'set', args: ['revoked', '!90', 'EX', '90'] }], 'and nothing else is')
})

t.test('a late mark that cannot be put back is no unhandled rejection', async (t) => {
  const { client } = answering([new Error('READONLY')])
  let getdel: RedisCommand | undefined
  const { sendCommand } = client
  Object.assign(client, {
    sendCommand (command: RedisCommand) {
      command.toWritable({ writableCorked: 1 })
      getdel = command
    }
  })
  const taken = redisStore(client, '').take('key', performance.now() + 60_000)
  getdel?.expire()
  await t.rejects(taken)
  Object.assign(client, { sendCommand })
  getdel?.resolve('!90')
  await new Promise((resolve) => setImmediate(resolve))
})

t.test('a mark that cannot be put back, or not in time, is a failure', async (t) => {
  const { client } = answering(['!90', new Error('READONLY')])
  await t.rejects(withTimeLimit(redisStore(client, '')).take('key'), { message: 'READONLY' })

  const slow = answering(['!90'])
  const { sendCommand } = slow.client
  Object.assign(slow.client, {
    sendCommand: (command: RedisCommand) => command.name === 'getdel' && sendCommand(command)
  })
  const taken = withTimeLimit(redisStore(slow.client, ''), 20).take('key')
  await t.rejects(taken, { message: 'The store did not answer in time' })
})

t.test('what is no answer to the command is a failure, and not repeated: it may be a stored value', async (t) => {
  const calls = {
    SET: (client: RedisClient) => withTimeLimit(redisStore(client, '')).put('key', 'value', 60),
    GETDEL: (client: RedisClient) => withTimeLimit(redisStore(client, '')).take('key'),
    'SET …': (client: RedisClient) => withTimeLimit(redisStore(client, '')).revoke('key', 60)
  }
  for (const [name, call] of Object.entries(calls)) {
    for (const answer of ['QUEUED', 7, true, undefined, ['value'], name === 'SET' ? 'value' : {}]) {
      const message = new RegExp(`^Redis answered ${name.slice(0, 3)}.* no answer`)
      await t.rejects(call(answering([answer]).client) as Promise<unknown>, { message })
    }
  }
})

t.test('nothing is sent while there is no connection, and the reason is told', async (t) => {
  const { client, sent } = answering([])
  Object.assign(client, { status: 'reconnecting' })
  await t.rejects(withTimeLimit(redisStore(client, ''), 1000).take('key'), { message: /\(reconnecting\)$/ })
  const store = withTimeLimit(redisStore(client, '', { trouble: () => ': connect ECONNREFUSED' }))
  const message = 'Redis is not connected (reconnecting): connect ECONNREFUSED'
  await t.rejects(store.put('key', 'value', 1), { message })
  t.strictSame(sent, [])
})

t.test('no answer is a failure once the time is over', async (t) => {
  const { client } = answering([])
  Object.assign(client, { sendCommand () {} })
  await t.rejects(withTimeLimit(redisStore(client, ''), 20).take('key'), { message: 'Redis did not answer in time' })
})

t.test('a client of the host stays as it is', async (t) => {
  const client = new Redis({ lazyConnect: true })
  const connection = openConnection(client, 250, () => t.fail('nothing is refused'))
  t.equal(connection.client, client)
  t.equal(connection.trouble(), '')
  t.equal(connection.giveUpAfter, undefined)
  t.strictSame(client.eventNames(), [])
  let disconnected = 0
  client.disconnect = () => { disconnected++ }
  connection.close()
  t.equal(disconnected, 0)
})

t.test('what is a client, options or a URL, and what is neither', async (t) => {
  const kinds = (value: unknown): string[] => Object.entries({ isRedisClient, isRedisOptions, isRedisUrl })
    .flatMap(([name, is]) => is(value) ? [name] : [])
  const own = new Redis({ lazyConnect: true })
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
  t.teardown(() => cluster.disconnect())
  for (const client of [own, cluster]) t.strictSame(kinds(client), ['isRedisClient'])
  for (const options of [{}, { host: 'a' }, Object.create(null), runInNewContext('({ port: 1 })')]) {
    t.strictSame(kinds(options), ['isRedisOptions'])
  }
  for (const url of ['redis://a', 'rediss://user:pass%20word@a:1/2']) t.strictSame(kinds(url), ['isRedisUrl'])
  class OtherClient {
    isReady = true
    options = {}
    sendCommand (): void {}
    connect (): void {}
  }
  const neither = [
    // As node-redis does it.
    new OtherClient(), Object.create(new OtherClient()), { ...new OtherClient(), sendCommand () {} },
    { status: 'ready' }, [], [{}], new Map(), new Date(), null, undefined, 7, () => {},
    '', 'localhost', 'localhost:6379', 'http://a', 'redis://%zz@a',
    new URL('redis://a')
  ]
  for (const value of neither) t.strictSame(kinds(value), [])
})

t.test('a client of our own', async (t) => {
  const { client } = closedClient(t, 800)
  const { retryStrategy, reconnectOnError, connectTimeout, sentinelCommandTimeout, host, protocol } = client.options
  t.equal(host, '127.0.0.1')
  t.equal(protocol, 2, 'RESP2')
  t.strictSame([1, 2, 9, 10, 11, 1000].map((times) => retryStrategy?.(times)), [50, 100, 450, 500, 500, 500])
  t.equal(connectTimeout, 1600, 'twice the time limit')
  t.equal(sentinelCommandTimeout, 1600)
  t.equal(closedClient(t, 100).client.options.connectTimeout, 1000, 'a second at least')
  t.equal(reconnectOnError?.(new Error("READONLY You can't write against a read only replica.")), true)
  t.equal(reconnectOnError?.(new Error('ERR')), false)
  const own = openConnection({ lazyConnect: true, retryStrategy: () => 7, connectTimeout: 8 }, 250, () => {})
  const { options } = own.client as Redis
  t.strictSame([options.retryStrategy?.(1), options.connectTimeout], [7, 8], 'options of the host come first')
  own.close()
  t.equal((own.client as Redis).status, 'end')
  t.equal(own.giveUpAfter, 250)
})

t.test('a URL', async (t) => {
  const { client, close } = openConnection('redis://name:word@127.0.0.1:1/2?lazyConnect=true', 250, () => {})
  const { port, username, db, connectTimeout } = (client as Redis).options
  t.strictSame([port, username, db, connectTimeout], [1, 'name', 2, 1000])
  close()
})

t.test('trouble is the last error, until the client is ready', async (t) => {
  const { client, trouble } = closedClient(t)
  t.equal(trouble(), '')
  client.emit('error', new Error('connect ECONNREFUSED 127.0.0.1:1'))
  t.equal(trouble(), ': connect ECONNREFUSED 127.0.0.1:1')
  client.emit('error', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))
  t.equal(trouble(), ': ECONNREFUSED', 'of several addresses there is a code only')
  client.emit('ready')
  t.equal(trouble(), '')
})

t.test('a wrong password is told once, and again after it was right', async (t) => {
  const refused: string[] = []
  const { client } = closedClient(t, 250, refused)
  const wrong = new Error('WRONGPASS invalid username-password pair or user is disabled.')
  client.emit('error', new Error('ETIMEDOUT'))
  for (let count = 0; count < 3; count++) client.emit('error', wrong)
  t.strictSame(refused, [wrong.message])
  client.emit('ready')
  client.emit('error', new Error('NOAUTH Authentication required.'))
  t.strictSame(refused, [wrong.message, 'NOAUTH Authentication required.'])
  client.emit('ready')
  client.emit('error', new Error('It says WRONGPASS'))
  t.equal(refused.length, 2)
})

t.test('a server that says nothing after the connection is left', async (t) => {
  class Stream extends EventEmitter {
    destroyed = 0

    destroy (): void {
      this.destroyed++
    }
  }
  const connected = (milliseconds: number): { client: Redis, stream: Stream } => {
    const { client } = closedClient(t, milliseconds)
    const stream = new Stream()
    Object.assign(client, { stream })
    const before = timers()
    client.emit('connect')
    t.equal(timers(), before, 'that does not keep the process')
    return { client, stream }
  }
  const saved = ['ready', 'close'].map((event) => {
    const { client, stream } = connected(1)
    client.emit('connect')
    client.emit(event)
    return stream
  })
  const { stream } = connected(1)
  t.ok(await until(() => stream.destroyed > 0))
  t.equal(stream.destroyed, 1)
  // Their timers, of the same time, would have fired before.
  t.strictSame(saved.map(({ destroyed }) => destroyed), [0, 0])
})

class Client extends EventEmitter {
  status = 'connecting'
  connections = 0
  options = {}

  async connect (): Promise<void> {
    this.connections++
    throw new Error('It cannot')
  }

  sendCommand (): void {}
}

const soon = (milliseconds: number): number => performance.now() + milliseconds

t.test('waiting for a client', async (t) => {
  const ready = Object.assign(new Client(), { status: 'ready' })
  await whenReady(ready, soon(60_000))
  t.equal(ready.connections, 0)

  const lazy = Object.assign(new Client(), { status: 'wait' })
  await whenReady(lazy, soon(10))
  t.equal(lazy.connections, 1)

  for (const event of ['ready', 'error'] as const) {
    const before = timers()
    const late = new Client()
    let isOver = false
    const waiting = whenReady(late, soon(60_000)).then(() => { isOver = true })
    await new Promise((resolve) => setImmediate(resolve))
    t.notOk(isOver)
    late.emit(event, new Error('It failed'))
    await waiting
    t.equal(late.connections, 0)
    t.strictSame(late.eventNames(), [], 'no listener is left')
    t.equal(timers(), before, 'nor a timer')
  }

  await whenReady(new Client(), soon(40))
})

t.test('the first attempt to connect is waited for, once', async (t) => {
  const client = new Client()
  const { connected } = openRedis(client, { keyPrefix: '', storeTimeout: 60_000, onRefused: () => t.fail() })
  const both = Promise.all([connected(soon(60_000)), connected(soon(60_000))])
  t.equal(client.listenerCount('ready'), 1)
  client.emit('error', new Error('It failed'))
  await both
  await connected(soon(60_000))
  t.equal(client.listenerCount('ready'), 0, 'later, a client that is not connected is unavailable at once')
})
