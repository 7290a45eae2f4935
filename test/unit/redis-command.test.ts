// A command that is executed once at most: what it gives ioredis to write, each time ioredis is about to write it.
// test/faults shows the same with real servers that fail.
import { type Redis, ReplyError } from 'ioredis'
import { type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { RedisCommand } from '../../lib/stores/redis-command.ts'
import { timers } from '../helpers/timers.ts'

const PING = '*1\r\n$4\r\nPING\r\n'
const GETDEL = '*2\r\n$6\r\ngetdel\r\n$3\r\nkey\r\n'

/** What the command uses of a connection. */
class Connection {
  writableCorked = 0
  calls: string[] = []

  cork (): void {
    this.writableCorked++
    this.calls.push('cork')
  }

  uncork (): void {
    this.writableCorked--
    this.calls.push('uncork')
  }

  destroy (): void {
    this.calls.push('destroy')
  }

  get isDestroyed (): boolean {
    return this.calls.includes('destroy')
  }
}

function command (patience?: number): RedisCommand {
  const command = new RedisCommand('getdel', ['key'], patience)
  command.promise.catch(() => {})
  return command
}

/** A client that writes to this connection, and the texts that it wrote. */
function clientOf (connection: Connection): { client: Redis, written: unknown[] } {
  const written: unknown[] = []
  return { client: { sendCommand: (command: RedisCommand) => { written.push(command.toWritable(connection)) } } as unknown as Redis, written }
}

/** How ioredis hands on what Redis answers. */
const answer = (command: RedisCommand, value: unknown): void => { command.resolve(value) }
const refuse = (command: RedisCommand, message: string): void => { command.reject(new ReplyError(message)) }
const loseConnection = (command: RedisCommand): void => { command.reject(new Error('Connection is closed.')) }

t.test('it is written as it is, and gives the answer', async (t) => {
  const connection = new Connection()
  const { client, written } = clientOf(connection)
  const sent = new RedisCommand('getdel', ['key'])
  const outcome = sent.sendBy(client)
  t.strictSame(written, [GETDEL])
  answer(sent, Buffer.from('välue'))
  t.equal(await outcome, 'välue', 'as text')
})

t.test('a second time it does not leave', async (t) => {
  const connection = new Connection()
  const lost = command()
  t.equal(lost.toWritable(connection), GETDEL)
  t.equal(lost.toWritable(new Connection()), PING)
  await t.rejects(lost.promise, { message: 'The connection to Redis was lost before the answer came' })
  t.equal(lost.toWritable(new Connection()), PING, 'nor a third time')
})

t.test('what has expired does not leave at all', async (t) => {
  const expired = command()
  expired.expire()
  await t.rejects(expired.promise, { message: 'Redis did not answer in time' })
  t.equal(expired.toWritable(new Connection()), PING)
  t.equal(expired.isSettled, true)
})

t.test('what was refused may leave again: Redis has not executed it', async (t) => {
  const moved = command()
  moved.toWritable(new Connection())
  refuse(moved, 'MOVED 1 127.0.0.1:7001')
  await t.rejects(moved.promise, { message: 'MOVED 1 127.0.0.1:7001' })

  // As the client of a cluster does, which sends it to another node instead of rejecting it.
  const redirected = command()
  const connection = new Connection()
  const { reject } = redirected
  let redirections = 0
  redirected.reject = () => { redirections++ }
  redirected.toWritable(connection)
  refuse(redirected, 'ASK 1 127.0.0.1:7001')
  t.equal(redirections, 1)
  redirected.reject = reject
  t.equal(redirected.toWritable(connection), GETDEL)
  answer(redirected, 'value')
  t.equal(await redirected.promise, 'value')
})

t.test('a connection that owes an answer gets nothing more', async (t) => {
  const connection = new Connection()
  const { client, written } = clientOf(connection)
  const first = command()
  first.sendBy(client)
  first.expire()

  const second = command()
  await t.rejects(second.sendBy(client), { message: 'Redis does not answer' })
  t.strictSame(written, [GETDEL], 'thrown, so that ioredis expects no reply')

  const queued = command()
  t.equal(queued.toWritable(connection), PING, 'what was queued by ioredis is written in any case')
  await t.rejects(queued.promise, { message: 'Redis does not answer' })

  t.equal(command().toWritable(new Connection()), GETDEL, 'another connection owes nothing')

  answer(first, 'too late')
  t.equal(command().toWritable(connection), GETDEL, 'paid')
})

t.test('each that has expired is a debt of its own', async (t) => {
  const connection = new Connection()
  const [one, two] = [command(), command()]
  for (const each of [one, two]) t.equal(each.toWritable(connection), GETDEL)
  for (const each of [one, two]) each.expire()
  answer(one, null)
  t.equal(command().toWritable(connection), PING)
  refuse(two, 'ERR it did not work')
  t.equal(command().toWritable(connection), GETDEL, 'an error is an answer')
})

t.test('a debt is counted and paid once', async (t) => {
  const connection = new Connection()
  const late = command()
  late.toWritable(connection)
  late.expire()
  loseConnection(late)
  answer(late, null)
  answer(late, null)
  t.equal(command().toWritable(connection), GETDEL)
  const next = command()
  next.toWritable(connection)
  next.expire()
  t.equal(command().toWritable(connection), PING, 'the one before has not been paid twice')
})

t.test('what was answered in time is no debt', async (t) => {
  const connection = new Connection()
  for (const settle of [(each: RedisCommand) => answer(each, 'value'), (each: RedisCommand) => refuse(each, 'ERR')]) {
    const each = command(1)
    each.toWritable(connection)
    settle(each)
    t.equal(command().toWritable(connection), GETDEL)
  }
  await wait(20)
  t.notOk(connection.isDestroyed)
})

t.test('a connection that owes an answer for too long is given up', async (t) => {
  const connection = new Connection()
  const late = command(30)
  late.toWritable(connection)
  await wait(60)
  t.notOk(connection.isDestroyed, 'not as long as the caller waits')
  late.expire()
  const started = performance.now()
  while (!connection.isDestroyed && performance.now() - started < 5000) await wait(2)
  t.ok(connection.isDestroyed)
  t.ok(performance.now() - started >= 29, 'not before the time is over')
})

t.test('a connection that answers late, and one of the host, are kept', async (t) => {
  const [slow, foreign] = [new Connection(), new Connection()]
  const late = command(20)
  late.toWritable(slow)
  late.expire()
  answer(late, 'value')
  const silent = command()
  silent.toWritable(foreign)
  silent.expire()
  await wait(60)
  t.notOk(slow.isDestroyed)
  t.notOk(foreign.isDestroyed)
})

t.test('waiting for an answer does not keep the process', async (t) => {
  const before = timers()
  const late = command(10_000)
  late.toWritable(new Connection())
  late.expire()
  t.equal(timers(), before)
})

t.test('a client that throws is a rejection', async (t) => {
  const client = { sendCommand: () => { throw new Error('No more') } } as unknown as Redis
  await t.rejects(command().sendBy(client), { message: 'No more' })
})

t.test('what is written in one turn leaves together', async (t) => {
  const connection = new Connection()
  for (let count = 0; count < 3; count++) command().toWritable(connection as unknown as Socket)
  t.strictSame(connection.calls, ['cork'])
  await nextTurn()
  t.strictSame(connection.calls, ['cork', 'uncork'])
  command().toWritable(connection)
  await nextTurn()
  t.strictSame(connection.calls, ['cork', 'uncork', 'cork', 'uncork'])
})
