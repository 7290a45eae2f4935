// The cause that the log names is the word of the server or of the network, also where ioredis wraps it; and nothing is
// needed of a server but the commands of the runbook: no INFO, and of a Cluster CLUSTER SLOTS alone.
import { createServer as createTlsServer } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { CERTIFICATE, KEY } from '../helpers/certificate.ts'
import { listen, rawServer } from '../helpers/listen.ts'
import { scene } from './outages.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { libraries, ofTest, STORE_TIMEOUT } from '../helpers/redis-clients.ts'
import type { AnyClient, Library } from '../helpers/redis-clients.ts'
import { until } from '../helpers/until.ts'

/** Waits until a call of the store is refused for this reason. */
async function refusedFor (store: RedisStore, reason: RegExp): Promise<void> {
  let last = ''
  await until(async () => {
    last = await store.take('key', performance.now() + 50).then(() => 'served', ({ message }: Error) => message)
    return reason.test(last)
  }).catch(() => { throw new Error(`Expected ${reason}; the last one was: ${last}`) })
}

const host = '127.0.0.1'

/** The store on what the client connects to, with each library. It may be silent for `timeout`. */
function storesOn (t: Test, connect: (library: Library) => AnyClient, timeout = STORE_TIMEOUT) {
  return Object.entries(libraries).map(([name, library]) => {
    const store = new RedisStore(ofTest(t, connect(library)), 'partner-sso:', timeout)
    t.teardown(() => store.close())
    return [name, store] as const
  })
}

t.test('a single server: what it replies to the first command', async (t) => {
  const { client, port } = await startRedis(t)
  const on = (options: object) => storesOn(t, ({ Redis }) => new Redis({ host, port, ...options, lazyConnect: true }))
  await client.call('ACL', 'SETUSER', 'sso', 'on', '>right', '~*', '+@all')
  for (const [name, store] of on({ username: 'sso', password: 'wrong' })) {
    await t.resolves(refusedFor(store, /^WRONGPASS /), name)
  }
  await client.config('SET', 'requirepass', 'right')
  for (const [name, store] of on({})) await t.resolves(refusedFor(store, /^NOAUTH /), name)
  await client.config('SET', 'requirepass', '')
  await client.config('SET', 'maxclients', '1')
  for (const [name, store] of on({})) await t.resolves(refusedFor(store, /^ERR max number of clients reached$/), name)
})

t.test('no Redis there', async (t) => {
  const port = await freePort()
  for (const [name, store] of storesOn(t, ({ Redis }) => new Redis({ host, port, lazyConnect: true }))) {
    await t.resolves(refusedFor(store, /^Redis is not connected \(\w+\): connect ECONNREFUSED 127\.0\.0\.1:\d+$/), name)
  }
})

t.test('a server that accepts the connection and says nothing', async (t) => {
  const url = await rawServer(t, (socket) => socket.on('data', () => {}))
  const port = Number(new URL(url).port)
  // ioredis 5 is "ready" by then, and what is asked first has no reply; ioredis 6 waits for one.
  const reason = /Redis said nothing for 10 ms, and the connection was given up|Redis accepted the connection and said/
  for (const password of ['', 'that AUTH waits for']) {
    const options = { host, port, password, lazyConnect: true }
    for (const [name, store] of storesOn(t, ({ Redis }) => new Redis(options), 10)) {
      await t.resolves(refusedFor(store, reason), `${name} ${password}`)
    }
  }
})

t.test('Sentinels: what each of them said', async (t) => {
  const url = await rawServer(t, (socket) => socket.on('data', (bytes) => {
    for (const command of bytes.toString().split(/(?=\*\d+\r\n)/)) {
      socket.write(/get-master-addr/i.test(command) ? '*-1\r\n' : '+OK\r\n')
    }
  }))
  const sentinels = [{ host, port: await freePort() }, { host, port: Number(new URL(url).port) }]
  const reason = /: failed to connect to sentinel .*; connected to sentinel .* but got an invalid reply: null$/
  for (const [name, store] of storesOn(t, ({ Redis }) => new Redis({ sentinels, name: 'sso', lazyConnect: true }))) {
    await t.resolves(refusedFor(store, reason), name)
  }
})

t.test('TLS to a plain port, and plain to a TLS port', async (t) => {
  const { port: plain } = await startRedis(t)
  const tls = await listen(t, createTlsServer({ cert: CERTIFICATE, key: KEY }))
  const options = { host, lazyConnect: true, connectTimeout: 100 }
  const toPlain = storesOn(t, ({ Redis }) => new Redis({ ...options, port: plain, tls: { ca: CERTIFICATE } }))
  for (const [name, store] of toPlain) await t.resolves(refusedFor(store, /wrong version number|not connected/), name)
  const toTls = storesOn(t, ({ Redis }) => new Redis({ ...options, port: tls }))
  for (const [name, store] of toTls) await t.resolves(refusedFor(store, /not connected/), name)
})

/** A Cluster of one node. */
async function startOneNode (t: Test, settings: string[] = []) {
  const server = await startRedis(t, ['--cluster-enabled', 'yes', '--cluster-announce-ip', host, ...settings])
  await server.client.cluster('ADDSLOTSRANGE', 0, 16383)
  await server.client.call('ACL', 'SETUSER', 'sso', 'on', '>right', '~partner-sso:*', '+set', '+getdel', '+ping')
  return server
}

t.test('a Cluster: what its nodes reply, in place of "Failed to refresh slots cache."', async (t) => {
  const { port } = await startOneNode(t)
  const [{ port: single }, nobody] = [await startRedis(t), await freePort()]
  const on = (port: number, redisOptions = {}) => storesOn(t, ({ Cluster }) =>
    new Cluster([{ host, port }], { redisOptions, lazyConnect: true }))
  const [wrong, right] = [{ username: 'sso', password: 'wrong' }, { username: 'sso', password: 'right' }]
  for (const [name, store] of on(port, wrong)) await t.resolves(refusedFor(store, /^WRONGPASS /), name)
  for (const [name, store] of on(port, right)) await t.resolves(refusedFor(store, /^NOPERM .*cluster\|slots/), name)
  for (const [name, store] of on(single)) {
    await t.resolves(refusedFor(store, /^ERR This instance has cluster support disabled$/), name)
  }
  for (const [name, store] of on(nobody)) await t.resolves(refusedFor(store, /: connect ECONNREFUSED /), name)
})

t.test('no right to INFO: signed in, on a single server and on a Cluster', async (t) => {
  const { port, client } = await startRedis(t)
  await client.call('ACL', 'SETUSER', 'default', '-info')
  const node = await startOneNode(t)
  await node.client.call('ACL', 'SETUSER', 'sso', '+cluster|slots')
  await until(async () => String(await node.client.cluster('INFO')).includes('cluster_state:ok'))
  const nodes = [{ host, port: node.port }]
  const redisOptions = { username: 'sso', password: 'right' }
  for (const [name, { Redis, Cluster }] of Object.entries(libraries)) {
    for (const client of [
      new Redis({ host, port, lazyConnect: true }), new Cluster(nodes, { redisOptions, lazyConnect: true })
    ]) {
      const { portal } = await scene(t, { redis: ofTest(t, client) })
      t.equal((await portal.user(await portal.accessToken())).status, 200, name)
    }
  }
})
