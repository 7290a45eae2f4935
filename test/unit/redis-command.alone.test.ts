// A command that is executed once at most: what it gives ioredis to write, each time ioredis is about to write it.
// test/faults shows the same with real servers that fail.
// Alone: it sets the clock of its process.
import { byClock, newClock, pass } from '../helpers/virtual-clock.ts'
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
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  writableCorked = 0
  calls: string[] = []

  constructor (remoteAddress?: string, remotePort?: number) {
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
  }

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
  command.outcome.catch(() => {})
  return command
}

/** A client that writes to this connection, and the texts that it wrote. */
function clientOf (connection: Connection): { client: RedisClient, written: unknown[] } {
  const written: unknown[] = []
  const sendCommand = (command: RedisCommand): void => { written.push(command.toWritable(connection)) }
  return { client: { sendCommand } as unknown as RedisClient, written }
}

/** How ioredis hands on what Redis replies. */
const reply = (command: RedisCommand, value: unknown): void => { command.resolve(value) }
const refuse = (command: RedisCommand, message: string): void => { command.reject(new ReplyError(message)) }
const loseConnection = (command: RedisCommand): void => { command.reject(new Error('Connection is closed.')) }

const pause = async (): Promise<void> => await nextTurn()
const IN_TIME = 'Redis did not respond in time'

/**
 * What happens to commands that have numbers, on the connections `a` and `b`, and which text ioredis is given to write;
 * then the reply to the first command, as text, or the message of its rejection.
 */
const lives: Record<string, [steps: string[], end: string]> = {
  'a second time it does not leave, nor a third time': [
    ['1 write a: GETDEL', '1 write b: PING', '1 write b: PING'],
    'The connection to Redis was lost before the reply came'
  ],
  'what has expired does not leave at all': [['1 expire', '1 write a: PING'], IN_TIME],
  'what Redis refused was not executed': [
    ['1 write a: GETDEL', '1 refuse', '2 write a: GETDEL'], 'MOVED 1 127.0.0.1:7001'
  ],
  'a silent connection, and no other, gets nothing more until it replies': [
    ['1 write a: GETDEL', '1 expire', '2 write a: PING', '3 write b: GETDEL', '1 reply', '4 write a: GETDEL'], IN_TIME
  ],
  'each command that was given up is awaited for itself; an error is a reply': [
    [
      '1 write a: GETDEL', '2 write a: GETDEL', '1 expire', '2 expire', '1 reply', '3 write a: PING', '2 refuse',
      '4 write a: GETDEL'
    ], IN_TIME
  ],
  'one that was given up is counted once, and its reply once': [
    [
      '1 write a: GETDEL', '1 expire', '1 lose', '1 reply', '1 reply', '2 write a: GETDEL', '2 expire',
      '3 write a: PING'
    ], IN_TIME
  ],
  'a reply at the very moment of the deadline counts': [
    ['1 write a: GETDEL', '1 reply', '1 expire', '2 write a: GETDEL'], 'välue'
  ]
}

for (const [name, [steps, end]] of Object.entries(lives)) {
  t.test(name, async (t) => {
    const connections = { a: new Connection(), b: new Connection() }
    const commands = Array.from({ length: 5 }, () => command())
    const happen = {
      write: (sent: RedisCommand, to: string) => sent.toWritable(connections[to as 'a']),
      expire: (sent: RedisCommand) => { sent.expire() },
      reply: (sent: RedisCommand) => { reply(sent, Buffer.from('välue')) },
      refuse: (sent: RedisCommand) => { refuse(sent, 'MOVED 1 127.0.0.1:7001') },
      lose: loseConnection
    }
    for (const step of steps) {
      const [number, what, to = '', text] = step.split(/:? /)
      const written = happen[what as 'write'](commands[Number(number)] as RedisCommand, to)
      t.equal(written, text && { PING, GETDEL }[text as 'PING'], step)
    }
    t.equal(await commands[1]?.outcome.catch(({ message }) => message), end)
  })
}

t.test('the client of a cluster may send a refused command to another node', async (t) => {
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
  reply(redirected, 'value')
  t.equal(await redirected.outcome, 'value')
})

t.test('to a silent connection, ioredis is given nothing to write, and expects no reply', async (t) => {
  const connection = new Connection()
  const { client, written } = clientOf(connection)
  const first = command()
  first.sendBy(client)
  first.expire()
  await t.rejects(command().sendBy(client), { message: 'Redis does not respond' })
  t.strictSame(written, [GETDEL])
  const sendCommand = async (sent: RedisCommand) => { await pause(); sent.toWritable(connection) }
  const later = command().sendBy({ sendCommand } as unknown as RedisClient)
  await t.rejects(later, { message: 'Redis does not respond' }, 'also where a wrapper of the host waits')
})

t.test('a server that does not respond is named by its address, where the connection has one', async (t) => {
  const { client } = clientOf(new Connection('10.0.0.7', 6379))
  const late = command()
  late.sendBy(client)
  late.expire()
  await t.rejects(late.outcome, { message: /^Redis did not respond in time \(10\.0\.0\.7:6379\)$/ })
  await t.rejects(command().sendBy(client), { message: /^Redis does not respond \(10\.0\.0\.7:6379\)$/ })
  const queued = command()
  queued.expire()
  await t.rejects(queued.outcome, { message: /^Redis did not respond in time$/ }, 'on no connection yet')
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
  reply(sent[2], 'value')
  pass(clock, 300)
  for (let turns = 0; turns < 3; turns++) await nextTurn()
  await t.rejects(sent[0].outcome, { message: IN_TIME })
  t.equal(await sent[2].outcome, 'value')
  reply(sent[1], 'late')
  pass(clock, 499)
  t.notOk(silent.isDestroyed)
  pass(clock, 1)
  t.strictSame([silent, slow, inTime, foreign].map(({ isDestroyed }) => isDestroyed), [true, false, false, false])
})

t.test('waiting for a late reply does not keep the process', async (t) => {
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

/** What hosts and APM agents put round `sendCommand`. */
const wrappers: Record<string, (send: (command: RedisCommand) => unknown) => (command: RedisCommand) => unknown> = {
  'measured, async': (send) => async (command) => await send(command),
  'with an await before': (send) => async (command) => { await pause(); return await send(command) },
  'that returns nothing': (send) => (command) => { send(command) }
}

for (const [name, wrap] of Object.entries(wrappers)) {
  t.test(`sendCommand ${name}: each rejection reaches the caller alone`, async (t) => {
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
      await t.rejects(outcome, { message }, String(message))
    }
    for (let turns = 0; turns < 3; turns++) await pause()
  })
}

t.test('a client that throws, or rejects by itself, is a rejection at once', async (t) => {
  const error = new Error('No more')
  for (const sendCommand of [() => { throw error }, async () => { throw error }]) {
    const client = { sendCommand } as unknown as RedisClient
    await t.rejects(command().sendBy(client), { message: 'No more' }, String(sendCommand))
  }
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
  await t.rejects(outcome, { message: IN_TIME })
  t.strictSame(connection.calls, ['cork', 'uncork'])
})
