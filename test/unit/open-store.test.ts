// The store of one registration, by its options: what is opened, said in the log, checked and let go.
import { type FastifyBaseLogger } from 'fastify'
import cluster from 'node:cluster'
import t from 'tap'
import { type Store } from '../../lib/index.ts'
import { openStore, type StoreOptions } from '../../lib/stores/open.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { timers } from '../helpers/timers.ts'
import { until } from '../faults/scene.ts'

type Line = [level: string, ...texts: unknown[]]

const DEFAULTS = { keyPrefix: 'partner-sso:', memoryLimit: 100, storeTimeout: 1000 }

function open (options: Partial<StoreOptions>): { opening: ReturnType<typeof openStore>, lines: Line[] } {
  const lines: Line[] = []
  const level = (name: string) => (...texts: unknown[]) => { lines.push([name, ...texts]) }
  const log = { error: level('error') } as unknown as FastifyBaseLogger
  return { opening: openStore({ ...DEFAULTS, ...options }, { log, warn: level('warning') }), lines }
}

const soon = (milliseconds = 60_000): number => performance.now() + milliseconds

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
    async revoke (key, lifetime) {
      this.calls.push(['revoke', key, lifetime])
      return false
    }
  }
}

const IN_PROCESS = new RegExp('^partner-sso: neither redis nor store is given: ' +
  'codes and tokens are kept in the memory of this process')

t.test('in the process: that is said', async (t) => {
  const { opening, lines } = open({ memoryLimit: 2 })
  const { store, start, isReady, close } = await opening
  await start()
  t.match(lines, [['warning', IN_PROCESS]])
  t.equal(lines.length, 1)
  t.notMatch(lines[0]?.[1], /one of several/)
  t.equal(await isReady(), true)
  for (const key of ['a', 'b', 'c']) t.equal(await store.put(key, 'value', 60, soon()), true)
  t.equal(await store.take('a', soon()), null, 'no more than memoryLimit')
  t.equal(await store.take('b', soon()), 'value')
  close()
  t.equal(await store.take('c', soon()), null, 'gone')
})

t.test('in the process, though this is one of several: that is said in the same warning', async (t) => {
  const several = { NODE_APP_INSTANCE: '1', pm_id: '0' }
  for (const [name, value] of Object.entries(several)) {
    process.env[name] = value
    const { opening, lines } = open({})
    const { close } = await opening
    close()
    delete process.env[name]
    t.match(lines, [['warning', IN_PROCESS]], name)
    t.match(lines[0]?.[1], /one of several \(a cluster worker, or started by PM2\).*Set redis or store\.$/, name)
    t.equal(lines.length, 1)
  }
  Object.assign(cluster, { isWorker: true })
  t.teardown(() => Object.assign(cluster, { isWorker: false }))
  const worker = open({})
  ;(await worker.opening).close()
  t.match(worker.lines[0]?.[1], /one of several/)
  const shared = open({ store: oneRecord() })
  await shared.opening
  t.strictSame(shared.lines, [], 'with a store that they share nothing is said')
})

t.test('a store of the host', async (t) => {
  const given = oneRecord()
  const { opening, lines } = open({ store: given })
  const { start, isReady } = await opening
  await start()
  t.equal(await isReady(), true)
  t.strictSame(given.calls.map(([name]) => name), ['put', 'take', 'revoke', 'put', 'take'])
  const [put, take, revoke, again] = given.calls as [unknown[], unknown[], unknown[], unknown[]]
  const [[, key, lifetime], [, taken], [, revoked], [, another]] = [put, take, revoke, again]
  t.match(key, /^probe-[\w-]{14}$/)
  t.equal(lifetime, 1)
  t.equal(taken, key)
  t.equal(new Set([key, revoked, another]).size, 3, 'a key of its own each time')
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
    ['error', 'partner-sso: the store is available again']
  ])
})

const refusal = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' })

t.test('trouble that passes does not hinder the start', async (t) => {
  const passing = [
    new Error('It is down'), new Error('Redis is not connected (connecting)'), new Error('ERR unknown command'),
    ...['LOADING Redis is loading', 'READONLY You can\'t write', 'MASTERDOWN Link with MASTER is down',
      'CLUSTERDOWN Hash slot not served', 'OOM command not allowed', 'WRONGPASS invalid',
      'NOAUTH Authentication required.',
      'MISCONF Redis is configured', 'NOREPLICAS Not enough', 'BUSY Redis is busy', 'TRYAGAIN Multiple keys',
      'MOVED 1 a:1', 'ASK 1 a:1', 'ERR max number of clients reached'].map(refusal)
  ]
  for (const failure of passing) {
    const { start } = await open({ store: Object.assign(oneRecord(), { failure }) }).opening
    await t.resolves(start(), failure.message)
  }
})

t.test('a server that refuses a command for good stops the start, whatever its words', async (t) => {
  const refusals = [
    "ERR unknown command 'getdel'", "NOPERM User app has no permissions to run the 'set' command", 'ERR syntax error',
    'ERR command is not supported by this proxy', 'command not allowed', 'unsupported command', 'OOMPH no', 'ERR'
  ]
  for (const message of refusals) {
    for (const name of ['put', 'take', 'revoke'] as const) {
      const refuse = async () => { throw refusal(`${message}, with args beginning with: a`) }
      const given = Object.assign(oneRecord(), { [name]: refuse })
      const { start } = await open({ store: given }).opening
      await t.rejects(start(), {
        message: 'partner-sso: Redis refuses a command that is needed: SET with EX and NX, SET with EX and GET, ' +
          `GETDEL (Redis 6.2 or later, not renamed, allowed to this user): ${message}`
      }, name)
    }
  }
})

t.test('a store that does not keep what it is given is not ready, and hinders no start', async (t) => {
  const cause = 'It did not keep what was put and give it back'
  const forgetful: Array<Partial<Store>> = [
    { put: async () => false }, { take: async () => null }, { take: async () => 'another' }
  ]
  for (const faults of forgetful) {
    const { opening, lines } = open({ store: { ...oneRecord(), ...faults } })
    const { start, isReady } = await opening
    await t.resolves(start())
    for (let count = 0; count < 2; count++) t.equal(await isReady(), false)
    t.match(lines, [['error', { cause }, /^partner-sso: the store is unavailable/]])
    t.equal(lines.length, 1, 'the log says so once')
  }
})

t.test('a silent store is given up, and asked once at a time', async (t) => {
  let calls = 0
  const silent: Store = { put: async () => { calls++; return await never }, take: () => never, revoke: () => never }
  const { opening, lines } = open({ store: silent, storeTimeout: 500 })
  const { start, isReady, close } = await opening
  await start()
  t.equal(calls, 1)
  t.strictSame(await Promise.all([isReady(), isReady(), isReady()]), [false, false, false])
  t.equal(calls, 2)
  t.equal(await isReady(), false)
  t.equal(calls, 3, 'and again when that is over')
  t.equal(lines.length, 1)
  close()
})

t.test('the start does not wait for a silent store as long as Fastify allows a hook', async (t) => {
  const silent: Store = { put: () => never, take: () => never, revoke: () => never }
  const { start, close } = await open({ store: silent, storeTimeout: 30_000 }).opening
  const started = performance.now()
  await start()
  t.ok(performance.now() - started < 10_000, "Fastify's pluginTimeout would end the start")
  close()
})

t.test('no timer is left', async (t) => {
  const { opening } = open({ store: oneRecord(), storeTimeout: 10_000 })
  const { start } = await opening
  const before = timers()
  await start()
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(timers(), before)
})

t.test('Redis: waits until it is connected, and disconnects', async (t) => {
  const { url, client } = await startRedis(t)
  const { opening, lines } = open({ redis: url, keyPrefix: 'mine:', storeTimeout: 5000 })
  const { store, start, isReady, close } = await opening
  t.teardown(close)
  await start()
  t.equal(await store.put('key', 'value', 60, soon()), true)
  t.equal(await client.get('mine:key'), 'value')
  t.equal(await isReady(), true)
  t.strictSame(lines, [], 'it was connected first')
  const connections = async (): Promise<number> => String(await client.client('LIST')).trim().split('\n').length
  t.equal(await connections(), 2)
  close()
  t.ok(await until(async () => await connections() === 1), 'disconnected')
})

t.test('Redis that is not there, or has another password', async (t) => {
  const nowhere = open({ redis: { host: '127.0.0.1', port: await freePort() }, storeTimeout: 60 })
  const away = await nowhere.opening
  t.teardown(away.close)
  await away.start()
  t.equal(nowhere.lines.length, 1)
  const cause = /^Redis is not connected \(\w+\): connect ECONNREFUSED/
  t.match(nowhere.lines[0], ['error', { cause }, /^partner-sso: the store is unavailable/])

  const { client, port } = await startRedis(t)
  await client.config('SET', 'requirepass', 'right')
  const refused = open({ redis: { host: '127.0.0.1', port, password: 'wrong' }, storeTimeout: 30_000 })
  const { start, close } = await refused.opening
  t.teardown(close)
  await start()
  const said = refused.lines.find(([, , text]) => /refuses/.test(String(text)))
  t.match(said, ['error', { cause: /^WRONGPASS/ }, 'partner-sso: Redis refuses the user or password'])
})
