// Redis with Sentinel: the app starts while one Sentinel hangs; the replica takes over because the master dies, because
// it hangs, and by plan; and a Sentinel that is played tells of a failover at the worst moment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import {
  executed, findsServer, issue, outages, refusedWhen, replicated, scene, signIn, stillGood, timedOut, unavailable
} from './outages.ts'
import { listen } from '../helpers/listen.ts'
import { freePort } from '../helpers/ports.ts'
import { clientOf, startRedis } from '../helpers/redis.ts'
import { libraries, ofTest, STORE_TIMEOUT, storeOn } from '../helpers/redis-clients.ts'
import { until } from '../helpers/until.ts'

/** Milliseconds after which a Sentinel would take a silent master for down by itself. */
const DOWN_AFTER = 3_600_000

/** A master with a replica, watched by that many Sentinels. `ofMaster` is added to its command line. */
async function startSentinel (t: Test, count: 1 | 3, ofMaster: string[] = []) {
  const settings = ['--repl-diskless-sync-delay', '0']
  const master = await startRedis(t, [...settings, ...ofMaster])
  const replica = await startRedis(t, [...settings, '--replicaof', '127.0.0.1', String(master.port)])
  // A Sentinel asks its master for replicas at once, and then every ten seconds.
  await replicated(master)
  const start = () => startOne(t, master.port, Math.ceil(count / 2))
  const sentinels = await Promise.all(Array.from({ length: count }, start))
  // The last one: the first one is stopped for a while, and then waits for 30 seconds (tilt mode).
  const { client } = sentinels.at(-1) as Sentinel
  return {
    master,
    replica,
    sentinels,
    /** What a host gives as `redis`. */
    options: { sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })), name: 'sso' },
    /** Makes the replica the master. Nothing else does: a busy machine must not look like a master that is down. */
    async failOver () {
      // The Sentinel refuses until it has heard of the replica lately, and gives up on a busy machine: ask again.
      await until(async () => {
        const [, port] = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'sso') as string[]
        if (Number(port) === replica.port) return true
        return await client.call('SENTINEL', 'FAILOVER', 'sso').then(() => false, () => false)
      })
    }
  }
}

type Sentinel = Awaited<ReturnType<typeof startOne>>

async function startOne (t: Test, master: number, quorum: number) {
  const port = await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-sentinel-'))
  const file = join(directory, 'sentinel.conf')
  await writeFile(file, [
    `port ${port}`,
    `dir ${directory}`,
    `sentinel monitor sso 127.0.0.1 ${master} ${quorum}`,
    `sentinel down-after-milliseconds sso ${DOWN_AFTER}`,
    'sentinel failover-timeout sso 600000',
    ''
  ].join('\n'))
  const process = spawn('redis-sentinel', [file], { stdio: 'ignore' })
  const client = clientOf(t, { port, process, directory })
  await client.ping()
  return { port, client, process }
}

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  t.test(`failover after the master got ${signal}`, async (t) => {
    const { master, sentinels, options, failOver } = await startSentinel(t, 3)
    const [sentinel] = sentinels as [Sentinel]
    await t.resolves(checkStore(storeOn(t, ofTest(t, new Redis(options)), 'partner-sso:')))

    // The app starts while the first Sentinel hangs: it asks the next one.
    sentinel.process.kill('SIGSTOP')
    const host = await scene(t, { redis: options })
    await findsServer(t, host)
    sentinel.process.kill('SIGCONT')
    const [tried, kept] = [await issue(host), await issue(host)]
    await replicated(master)
    master.process.kill(signal)
    if (signal === 'SIGSTOP') {
      await timedOut(t, host, tried)
    } else {
      await once(master.process, 'exit')
      await refusedWhen(t, host, tried)
    }
    // The outage is old then: a request is refused at once.
    await host.advance(STORE_TIMEOUT)
    await unavailable(t, host, kept)
    await failOver()
    await findsServer(t, host)
    await stillGood(t, host, kept)
    await signIn(t, host)
    // Sentinel closes the connections to a server whose role it changes, so the store can be lost more than once.
    t.ok(await outages(t, host) >= 1)
  })
}

t.test('a planned failover: the old master stays one, and takes writes, and the plugin leaves it', async (t) => {
  // Without SLAVEOF the Sentinel cannot make it a replica, which it would do within ten seconds, ending connections.
  const withoutSlaveof = ['--rename-command', 'SLAVEOF', '']
  const { master, replica, sentinels, options, failOver } = await startSentinel(t, 1, withoutSlaveof)
  const [{ client }] = sentinels as [Sentinel]
  const hosts = await Promise.all(Object.entries(libraries).map(async ([name, { Redis }]) =>
    [name, await scene(t, { redis: ofTest(t, new Redis({ ...options, lazyConnect: true })) })] as const))
  // Each client listens to the Sentinel for +switch-master, by a connection that CLIENT LIST shows with `sub=1`.
  const subscribed = async (): Promise<number> => String(await client.client('LIST')).match(/ sub=1 /g)?.length ?? 0
  await until(async () => await subscribed() === hosts.length)
  await failOver()
  for (const [name, host] of hosts) {
    // Until an authorization stores its code at the new master.
    await until(async () => {
      await replica.client.slowlog('RESET')
      await host.portal.authorize()
      return (await executed(replica)).length === 1
    })
    await signIn(t, host)
    // The `set` of that authorization, and what a sign-in sends: `set` and `getdel` of its code and of its token.
    t.strictSame(await executed(replica), ['getdel', 'getdel', 'set', 'set', 'set'], `${name}: at the new master`)
  }
  t.equal((await master.client.role())[0], 'master')
  t.equal(await master.client.set('key', 'value'), 'OK')
})

/** A server that plays a Sentinel with one master: it can hold its answers back, and tell of a failover. */
async function playSentinel (t: Test, master: number) {
  const address = `*2\r\n$9\r\n127.0.0.1\r\n$${String(master).length}\r\n${master}\r\n`
  const replies = [
    [/get-master-addr-by-name/i, address],
    [/sentinels/i, '*0\r\n'],
    [/subscribe/i, '*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n']
  ] as const
  const sentinel = {
    port: 0,
    /** What it was given as its password, in order. */
    passwords: [] as string[],
    subscribers: new Set<Socket>(),
    /** Those who asked for the master, and are to have no answer yet. Undefined: each is answered at once. */
    heldBack: undefined as Socket[] | undefined,
    tellOfFailover () {
      const message = '*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$3\r\nsso\r\n'
      for (const socket of sentinel.subscribers) socket.write(message)
    },
    answer () {
      for (const socket of sentinel.heldBack ?? []) socket.write(address)
      sentinel.heldBack = undefined
    }
  }
  const server = createServer((socket) => socket.on('data', (bytes) => {
    for (const command of bytes.toString().split(/(?=\*\d+\r\n)/)) {
      const [, password] = /\r\nauth\r\n\$\d+\r\n(.*)\r\n/i.exec(command) ?? []
      if (password !== undefined) sentinel.passwords.push(password)
      const reply = replies.find(([name]) => name.test(command))?.[1] ?? '+OK\r\n'
      if (reply === address && sentinel.heldBack !== undefined) sentinel.heldBack.push(socket)
      else socket.write(reply)
      if (!/subscribe/i.test(command)) continue
      sentinel.subscribers.add(socket)
      socket.on('close', () => sentinel.subscribers.delete(socket))
    }
  }))
  sentinel.port = await listen(t, server)
  return sentinel
}

t.test('a password of the Sentinels that lives for minutes: each connection has that of the moment', async (t) => {
  const { client, port } = await startRedis(t)
  const sentinel = await playSentinel(t, port)
  const redis = { sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: 'sso', sentinelPassword: 'first' }
  const host = await scene(t, { redis })
  t.ok(await host.ready())
  t.strictSame(new Set(sentinel.passwords), new Set(['first']))
  redis.sentinelPassword = 'second'
  await client.client('KILL', 'TYPE', 'NORMAL')
  await until(() => sentinel.passwords.includes('second'))
  await findsServer(t, host)
  t.equal(sentinel.passwords.at(-1), 'second')
})

// ioredis then gives its connection up for good.
t.test('a failover of which a Sentinel tells while it is asked for the master', async (t) => {
  const { client, port } = await startRedis(t)
  for (const [name, { Redis }] of Object.entries(libraries)) {
    const sentinel = await playSentinel(t, port)
    const sentinels = [{ host: '127.0.0.1', port: sentinel.port }]
    const host = await scene(t, { redis: ofTest(t, new Redis({ sentinels, name: 'sso', lazyConnect: true })) })
    await until(() => sentinel.subscribers.size === 1)

    const heldBack = sentinel.heldBack = [] as Socket[]
    await client.client('KILL', 'TYPE', 'NORMAL')
    await until(() => heldBack.length === 1)
    sentinel.tellOfFailover()
    // The client has read it: it subscribes anew after the failover.
    await until(() => sentinel.subscribers.size === 0)
    sentinel.answer()
    await findsServer(t, host)
    await signIn(t, host)
    t.pass(name)
  }
})
