// The store of one registration, by its options: what is opened, said in the log, checked and let go.
import { type FastifyBaseLogger } from 'fastify'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type Store } from '../../lib/index.ts'
import { openStore } from '../../lib/stores/open.ts'
import { resolveOptions } from '../../lib/options.ts'
import { hostOptions } from '../helpers/host.ts'
import { freePort, startRedis } from '../helpers/redis.ts'
import { timers } from '../helpers/timers.ts'

type Line = [level: string, ...texts: unknown[]]

function open (options: object): { opening: ReturnType<typeof openStore>, lines: Line[] } {
  const lines: Line[] = []
  const level = (name: string) => (...texts: unknown[]) => { lines.push([name, ...texts]) }
  const log = { info: level('info'), warn: level('warn'), error: level('error') } as unknown as FastifyBaseLogger
  return { opening: openStore(resolveOptions(hostOptions(options), () => {}), { log, warn: level('warn') }), lines }
}

const never = new Promise<never>(() => {})

/** A store that keeps one record, and notes what it is asked for. */
function oneRecord (): Store & { calls: unknown[][], failure: Error | null } {
  let record: string | null = null
  return {
    calls: [],
    failure: null,
    async put (key, value, lifetime) {
      this.calls.push(['put', key, lifetime])
      if (this.failure !== null) throw this.failure
      record = value
      return true
    },
    async take (key) {
      this.calls.push(['take', key])
      const taken = record
      record = null
      return taken
    },
    async revoke () {}
  }
}

t.test('in the process: that is said', async (t) => {
  const { opening, lines } = open({ memoryLimit: 2 })
  const { store, start, isReady, close } = await opening
  await start()
  t.strictSame(lines, [['warn', 'partner-sso: no redis and no store is given: codes and tokens live in this process, which serves an app of one process only']])
  t.equal(await isReady(), true)
  for (const key of ['a', 'b', 'c']) t.equal(await store.put(key, 'value', key === 'a' ? 1 : 60), true)
  t.equal(await store.take('a'), null, 'no more than memoryLimit')
  t.equal(await store.take('b'), 'value')
  close()
  t.equal(await store.take('c'), null, 'gone')
})

t.test('a store of the host', async (t) => {
  const given = oneRecord()
  const { opening, lines } = open({ store: given })
  const { start, isReady } = await opening
  await start()
  t.equal(await isReady(), true)
  t.equal(given.calls.length, 4)
  const [[, key, lifetime], [, taken], [, another]] = given.calls as [unknown[], unknown[], unknown[]]
  t.match(key, /^probe-[\w-]{86,}$/)
  t.equal(lifetime, 1)
  t.equal(taken, key)
  t.not(another, key, 'a key of its own each time')
  t.strictSame(lines, [])
})

t.test('a change of state is said once', async (t) => {
  const given = oneRecord()
  const { opening, lines } = open({ store: given })
  const { isReady } = await opening
  given.failure = new Error('It is down')
  for (let count = 0; count < 2; count++) t.equal(await isReady(), false)
  given.failure = null
  t.equal(await isReady(), true)
  t.strictSame(lines, [
    ['error', { cause: 'It is down' }, 'partner-sso: the store is unavailable; until it is back no sign-in succeeds'],
    ['info', 'partner-sso: the store is available again']
  ])
})

t.test('a store that is down does not hinder the start; one that refuses what is needed does', async (t) => {
  for (const cause of ['It is down', 'Redis is not connected (connecting)']) {
    const given = Object.assign(oneRecord(), { failure: new Error(cause) })
    const { start } = await open({ store: given }).opening
    await t.resolves(start(), cause)
  }
  for (const cause of ["ERR unknown command 'getdel'", "NOPERM User app has no permissions to run the 'set' command"]) {
    const given = Object.assign(oneRecord(), { failure: new Error(cause) })
    const { start } = await open({ store: given }).opening
    await t.rejects(start(), { message: `partner-sso: Redis refuses a command that is needed (SET, GETDEL; Redis 6.2 or later, not renamed, allowed to this user): ${cause}` })
  }
})

t.test('a store that does not keep what it is given is not ready, and hinders no start', async (t) => {
  const forgetful: Array<Partial<Store>> = [{ put: async () => false }, { take: async () => null }, { take: async () => 'another' }]
  for (const faults of forgetful) {
    const { opening, lines } = open({ store: { ...oneRecord(), ...faults } })
    const { start, isReady } = await opening
    await t.resolves(start())
    for (let count = 0; count < 2; count++) t.equal(await isReady(), false)
    t.match(lines, [['error', { cause: 'It did not keep what was put and give it back' }, /^partner-sso: the store is unavailable/]])
    t.equal(lines.length, 1, 'the log says so once')
  }
})

t.test('a silent store is given up, and asked once at a time', async (t) => {
  let calls = 0
  const silent: Store = { put: async () => { calls++; return await never }, take: () => never, revoke: () => never }
  const { opening, lines } = open({ store: silent, storeTimeout: 40 })
  const { start, isReady, close } = await opening
  const started = performance.now()
  await start()
  t.ok(performance.now() - started >= 40)
  t.equal(calls, 1)
  t.strictSame(await Promise.all([isReady(), isReady(), isReady()]), [false, false, false])
  t.equal(calls, 2)
  t.equal(await isReady(), false)
  t.equal(calls, 3, 'and again when that is over')
  t.equal(lines.length, 1)
  close()
})

t.test('closing lets go of the timer', async (t) => {
  const { opening } = open({ store: oneRecord(), storeTimeout: 10_000 })
  const { start, close } = await opening
  const before = timers()
  await start()
  t.equal(timers(), before + 1)
  close()
  t.equal(timers(), before)
})

t.test('Redis: waits until it is connected, and disconnects', async (t) => {
  const { url, client } = await startRedis(t)
  const { opening, lines } = open({ redis: url, keyPrefix: 'mine:', storeTimeout: 5000 })
  const { store, start, isReady, close } = await opening
  t.teardown(close)
  await start()
  t.equal(await store.put('key', 'value', 60), true)
  t.strictSame(await client.keys('*'), ['mine:key'])
  t.equal(await isReady(), true)
  t.strictSame(lines, [], 'it was connected first')
  const connections = async (): Promise<number> => String(await client.client('LIST')).trim().split('\n').length
  t.equal(await connections(), 2)
  close()
  while (await connections() > 1) await wait(5)
  t.pass('disconnected')
})

t.test('Redis that is not there, or has another password', async (t) => {
  const nowhere = open({ redis: { host: '127.0.0.1', port: await freePort() }, storeTimeout: 60 })
  const away = await nowhere.opening
  t.teardown(away.close)
  await away.start()
  t.equal(nowhere.lines.length, 1)
  t.match(nowhere.lines[0], ['error', { cause: /^Redis is not connected \(\w+\): connect ECONNREFUSED/ }, /^partner-sso: the store is unavailable/])

  const { client, port } = await startRedis(t)
  await client.config('SET', 'requirepass', 'right')
  const refused = open({ redis: { host: '127.0.0.1', port, password: 'wrong' }, storeTimeout: 500 })
  const { start, close } = await refused.opening
  t.teardown(close)
  await start()
  t.match(refused.lines.find(([, , text]) => /refuses/.test(String(text))), ['error', { cause: /^WRONGPASS/ }, 'partner-sso: Redis refuses the user or password'])
})
