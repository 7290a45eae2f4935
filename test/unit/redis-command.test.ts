// A command that is executed once at most: what it gives ioredis to write, each time ioredis is about to write it.
// test/faults shows the same with real servers that fail.
// Alone: it sets the clock that lib finds when it is loaded.
import { byClock, newClock, pass } from '../interleavings/clock.ts'
import { ReplyError } from 'ioredis'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mock } from 'node:test'
import t from 'tap'
import type { RedisClient } from '../../lib/stores/redis-client.ts'
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

const soon = (milliseconds = 60_000): number => performance.now() + milliseconds

function command ({ deadline = soon(), giveUpAfter }: { deadline?: number, giveUpAfter?: number } = {}): RedisCommand {
  const command = new RedisCommand('getdel', ['key'], deadline, giveUpAfter)
  command.promise.catch(() => {})
  return command
}

/** A client that writes to this connection, and the texts that it wrote. */
function clientOf (connection: Connection): { client: RedisClient, written: unknown[] } {
  const written: unknown[] = []
  const sendCommand = (command: RedisCommand): void => { written.push(command.toWritable(connection)) }
  return { client: { sendCommand } as unknown as RedisClient, written }
}

/** How ioredis hands on what Redis answers. */
const answer = (command: RedisCommand, value: unknown): void => { command.resolve(value) }
const refuse = (command: RedisCommand, message: string): void => { command.reject(new ReplyError(message)) }
const loseConnection = (command: RedisCommand): void => { command.reject(new Error('Connection is closed.')) }

t.test('it is written as it is, and gives the answer', async (t) => {
  const connection = new Connection()
  const { client, written } = clientOf(connection)
  const sent = command()
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
  await t.rejects(lost.promise, { message: 'The connection to Redis was lost before the reply came' })
  t.equal(lost.toWritable(new Connection()), PING, 'nor a third time')
})

t.test('what has expired does not leave at all', async (t) => {
  const expired = command()
  expired.expire()
  await t.rejects(expired.promise, { message: 'Redis did not respond in time' })
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

t.test('a connection that does not answer gets nothing more', async (t) => {
  const connection = new Connection()
  const { client, written } = clientOf(connection)
  const first = command()
  const given = first.sendBy(client)
  first.expire()
  await t.rejects(given, { message: 'Redis did not respond in time' })

  const second = command()
  await t.rejects(second.sendBy(client), { message: 'Redis does not respond' })
  t.strictSame(written, [GETDEL], 'thrown, so that ioredis expects no reply')

  const queued = command()
  t.equal(queued.toWritable(connection), PING, 'what was queued by ioredis is written in any case')
  await t.rejects(queued.promise, { message: 'Redis does not respond' })

  t.equal(command().toWritable(new Connection()), GETDEL, 'another connection is not silent')

  answer(first, 'too late')
  t.equal(command().toWritable(connection), GETDEL, 'answered')
})

t.test('each command that was given up is unanswered for itself', async (t) => {
  const connection = new Connection()
  const [one, two] = [command(), command()]
  for (const each of [one, two]) t.equal(each.toWritable(connection), GETDEL)
  for (const each of [one, two]) each.expire()
  answer(one, null)
  t.equal(command().toWritable(connection), PING)
  refuse(two, 'ERR it did not work')
  t.equal(command().toWritable(connection), GETDEL, 'an error is an answer')
})

t.test('an unanswered command is counted once, and answered once', async (t) => {
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
  t.equal(command().toWritable(connection), PING, 'the one before was not counted as answered twice')
})

t.test('a connection is given up when it has not replied as long after the deadline, and no other', async (t) => {
  const [silent, slow, inTime, foreign] = [new Connection(), new Connection(), new Connection(), new Connection()]
  const clock = newClock()
  const sent = byClock(clock, () => [silent, slow, inTime].map((connection) => {
    const each = command({ deadline: clock.now + 300, giveUpAfter: 500 })
    each.sendBy(clientOf(connection).client)
    return each
  })) as [RedisCommand, RedisCommand, RedisCommand]
  byClock(clock, () => command({ deadline: clock.now + 300 }).sendBy(clientOf(foreign).client))
  answer(sent[2], 'value')
  pass(clock, 300)
  for (let turns = 0; turns < 3; turns++) await nextTurn()
  await t.rejects(sent[0].promise, { message: 'Redis did not respond in time' })
  t.equal(await sent[2].promise, 'value')
  answer(sent[1], 'late')
  pass(clock, 499)
  t.notOk(silent.isDestroyed)
  pass(clock, 1)
  t.strictSame([silent, slow, inTime, foreign].map(({ isDestroyed }) => isDestroyed), [true, false, false, false])
})

t.test('waiting for a late answer does not keep the process', async (t) => {
  const before = timers()
  const late = command({ giveUpAfter: 10_000 })
  late.toWritable(new Connection())
  late.expire()
  t.equal(timers(), before)
})

t.test('after the deadline nothing leaves, though the timer has not fired yet', async (t) => {
  const connection = new Connection()
  const { client, written } = clientOf(connection)
  const late = command({ deadline: performance.now() })
  await t.rejects(late.sendBy(client), { message: 'Redis was not connected in time' })
  t.strictSame(written, [])
})

t.test('answered at the very moment of the deadline, it counts as answered', async (t) => {
  const connection = new Connection()
  const sent = command()
  const outcome = sent.sendBy(clientOf(connection).client)
  answer(sent, 'value')
  sent.expire()
  t.equal(await outcome, 'value')
  t.equal(command().toWritable(connection), GETDEL, 'and its connection is not silent')
})

const pause = async (): Promise<void> => await nextTurn()

/** What hosts and APM agents put round `sendCommand`. */
const wrappers: Record<string, (send: (command: RedisCommand) => unknown) => (command: RedisCommand) => unknown> = {
  'measured, async': (send) => async (command) => await send(command),
  'with an await before': (send) => async (command) => { await pause(); return await send(command) },
  'that returns nothing': (send) => (command) => { send(command) }
}

for (const [name, wrap] of Object.entries(wrappers)) {
  t.test(`sendCommand ${name}: each rejection reaches the caller, and nobody else`, async (t) => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => { unhandled.push(error) }
    process.on('unhandledRejection', note)
    t.teardown(() => process.off('unhandledRejection', note))
    const ends: Array<[RegExp, (command: RedisCommand) => void]> = [
      [/respond in time/, (sent) => sent.expire()], [/READONLY/, (sent) => refuse(sent, 'READONLY')],
      [/closed/, loseConnection]
    ]
    for (const [message, end] of ends) {
      const sendCommand = wrap((sent) => { sent.toWritable(new Connection()); return sent.promise })
      const sent = new RedisCommand('getdel', ['key'], soon())
      const outcome = sent.sendBy({ sendCommand } as unknown as RedisClient)
      for (let turns = 0; turns < 3; turns++) await pause()
      end(sent)
      await t.rejects(outcome, { message })
    }
    for (let turns = 0; turns < 3; turns++) await pause()
    t.strictSame(unhandled, [])
  })
}

t.test('a client that throws, or rejects by itself, is a rejection at once', async (t) => {
  const error = new Error('No more')
  for (const sendCommand of [() => { throw error }, async () => { throw error }]) {
    await t.rejects(command().sendBy({ sendCommand } as unknown as RedisClient), { message: 'No more' })
  }
})

t.test('withdrawn while a wrapper waits: rejected at once', async (t) => {
  const connection = new Connection()
  const silent = command()
  silent.toWritable(connection)
  silent.expire()
  const sendCommand = async (sent: RedisCommand) => { await pause(); sent.toWritable(connection) }
  const late = command()
  await t.rejects(late.sendBy({ sendCommand } as unknown as RedisClient), { message: 'Redis does not respond' })
})

t.test('what is written in one turn leaves together', async (t) => {
  const connection = new Connection()
  for (let count = 0; count < 3; count++) command().toWritable(connection)
  t.strictSame(connection.calls, ['cork'])
  await nextTurn()
  t.strictSame(connection.calls, ['cork', 'uncork'])
  command().toWritable(connection)
  await nextTurn()
  t.strictSame(connection.calls, ['cork', 'uncork', 'cork', 'uncork'])
})

t.test('fake timers of the host leave no connection corked, and stop no time limit', async (t) => {
  const names = ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] as const
  const real = Object.fromEntries(names.map((name) => [name, globalThis[name]]))
  // As sinon and others do it.
  for (const name of names) Object.assign(globalThis, { [name]: () => 0 })
  mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] })
  t.teardown(() => {
    mock.timers.reset()
    Object.assign(globalThis, real)
  })
  const connection = new Connection()
  const outcome = command({ deadline: soon(500) }).sendBy(clientOf(connection).client)
  await t.rejects(outcome, { message: 'Redis did not respond in time' })
  t.strictSame(connection.calls, ['cork', 'uncork'])
})
