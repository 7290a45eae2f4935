// The Redis store and its client without a server: what is sent, and what the client is told to do. test/stores,
// test/flow/redis and test/faults show the same with real ones.
import { Redis } from 'ioredis'
import { EventEmitter, once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { Deadline } from '../../lib/stores/deadline.ts'
import { openConnection, redisStore, whenReady } from '../../lib/stores/redis.ts'
import { type RedisCommand } from '../../lib/stores/redis-command.ts'
import { timers } from '../helpers/timers.ts'

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
function closedClient (t: Teardown, milliseconds = 250, refused: string[] = []): { client: Redis, trouble: () => string } {
  const { client, trouble, close } = openConnection({ host: '127.0.0.1', port: 1, lazyConnect: true }, milliseconds, (cause) => refused.push(cause))
  t.teardown(close)
  return { client: client as Redis, trouble }
}

t.test('put sets what is not there, for its lifetime', async (t) => {
  const { client, sent } = answering(['OK', null])
  const store = redisStore(client, 'prefix:', new Deadline(1000))
  t.equal(await store.put('key', 'value', 60), true)
  t.equal(await store.put('key', 'value', 60), false)
  t.strictSame(sent[0], { name: 'set', args: ['prefix:key', 'value', 'EX', '60', 'NX'] })
})

t.test('take gives the value and removes it', async (t) => {
  const { client, sent } = answering(['value', null], { keyPrefix: 'host:' })
  const store = redisStore(client, 'prefix:', new Deadline(1000))
  t.equal(await store.take('key'), 'value')
  t.equal(await store.take('key'), null)
  t.strictSame(sent, [{ name: 'getdel', args: ['host:prefix:key'] }, { name: 'getdel', args: ['host:prefix:key'] }])
})

t.test('what was revoked stays revoked though take has removed the mark', async (t) => {
  const { client, sent } = answering(['OK', '!90', 'OK'])
  const store = redisStore(client, '', new Deadline(1000))
  t.equal(await store.revoke('key', 90), undefined)
  t.equal(await store.take('key'), null)
  const mark = { name: 'set', args: ['key', '!90', 'EX', '90'] }
  t.strictSame(sent, [mark, { name: 'getdel', args: ['key'] }, mark])
})

t.test('a mark that cannot be put back is a failure', async (t) => {
  const { client } = answering(['!90', new Error('READONLY')])
  await t.rejects(redisStore(client, '', new Deadline(1000)).take('key'), { message: 'READONLY' })
})

t.test('nothing is sent while there is no connection, and the reason is told', async (t) => {
  const { client, sent } = answering([])
  Object.assign(client, { status: 'reconnecting' })
  await t.rejects(redisStore(client, '', new Deadline(1000)).take('key'), { message: /\(reconnecting\)$/ })
  const store = redisStore(client, '', new Deadline(1000), { trouble: () => ': connect ECONNREFUSED' })
  await t.rejects(store.put('key', 'value', 1), { message: 'Redis is not connected (reconnecting): connect ECONNREFUSED' })
  t.strictSame(sent, [])
})

t.test('no answer is a failure once the time is over', async (t) => {
  const { client } = answering([])
  Object.assign(client, { sendCommand () {} })
  await t.rejects(redisStore(client, '', new Deadline(20)).take('key'), { message: 'Redis did not answer in time' })
})

t.test('a client of the host stays as it is', async (t) => {
  const client = new Redis({ lazyConnect: true })
  const connection = openConnection(client, 250, () => t.fail('nothing is refused'))
  t.equal(connection.client, client)
  t.equal(connection.trouble(), '')
  t.equal(connection.patience, undefined)
  t.strictSame(client.eventNames(), [])
  let disconnected = 0
  client.disconnect = () => { disconnected++ }
  connection.close()
  t.equal(disconnected, 0)
})

t.test('objects that are only like a client are options', async (t) => {
  for (const options of [{ lazyConnect: true, status: 'ready' }, { lazyConnect: true, sendCommand () {} }]) {
    const { client, close } = openConnection(options as object, 250, () => {})
    t.ok(client instanceof Redis)
    t.not(client, options)
    close()
  }
})

t.test('a client of our own', async (t) => {
  const { client } = closedClient(t, 800)
  const { retryStrategy, reconnectOnError, connectTimeout, sentinelCommandTimeout, host } = client.options
  t.equal(host, '127.0.0.1')
  t.strictSame([1, 2, 9, 10, 11, 1000].map((times) => retryStrategy?.(times)), [50, 100, 450, 500, 500, 500])
  t.equal(connectTimeout, 1600, 'twice the time limit')
  t.equal(sentinelCommandTimeout, 1600)
  t.equal(closedClient(t, 100).client.options.connectTimeout, 1000, 'a second at least')
  t.equal(reconnectOnError?.(new Error("READONLY You can't write against a read only replica.")), true)
  t.equal(reconnectOnError?.(new Error('ERR')), false)
  const own = openConnection({ lazyConnect: true, retryStrategy: () => 7, connectTimeout: 8 }, 250, () => {})
  t.strictSame([(own.client as Redis).options.retryStrategy?.(1), (own.client as Redis).options.connectTimeout], [7, 8], 'options of the host come first')
  own.close()
  t.equal((own.client as Redis).status, 'end')
  t.equal(own.patience, 250)
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
  const { client } = closedClient(t, 15)
  class Stream extends EventEmitter {
    destroyed = 0

    destroy (): void {
      this.destroyed++
      this.emit('destroyed')
    }
  }
  const stream = new Stream()
  Object.assign(client, { stream })
  for (const saved of ['ready', 'close']) {
    client.emit('connect')
    client.emit(saved)
    await wait(60)
    t.equal(stream.destroyed, 0, saved)
  }
  const before = timers()
  client.emit('connect')
  t.equal(timers(), before, 'that does not keep the process')
  client.emit('connect')
  client.emit('ready')
  await wait(60)
  t.equal(stream.destroyed, 0, 'of two timers none is left')
  client.emit('connect')
  await once(stream, 'destroyed', { signal: AbortSignal.timeout(5000) })
  t.equal(stream.destroyed, 1)
})

t.test('waiting for a client', async (t) => {
  class Client extends EventEmitter {
    status = 'connecting'
    connections = 0

    async connect (): Promise<void> {
      this.connections++
      throw new Error('It cannot')
    }
  }
  const waitFor = (client: Client, milliseconds: number): Promise<void> => whenReady(client as unknown as Redis, milliseconds)

  const ready = Object.assign(new Client(), { status: 'ready' })
  await waitFor(ready, 60_000)
  t.equal(ready.connections, 0)

  const lazy = Object.assign(new Client(), { status: 'wait' })
  await waitFor(lazy, 10)
  t.equal(lazy.connections, 1)

  const late = new Client()
  let isOver = false
  const waiting = waitFor(late, 60_000).then(() => { isOver = true })
  await wait(20)
  t.notOk(isOver)
  late.emit('ready')
  await waiting
  t.equal(late.connections, 0)

  const started = performance.now()
  await waitFor(new Client(), 40)
  t.ok(performance.now() - started >= 39)

  const failing = new Client()
  setTimeout(() => failing.emit('error', new Error('It failed')), 5)
  await t.resolves(waitFor(failing, 1000))
})
