// How the client of Redis connects: test/stores and test/faults connect to a host and a port.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { AbstractConnector, Cluster } from 'ioredis'
import t from 'tap'
import { connectorTo } from '../../lib/stores/redis-connector.ts'
import { ownClient } from '../../lib/stores/redis-own-client.ts'
import type { ClientOwner } from '../../lib/stores/redis-own-client.ts'
import { CERTIFICATE, KEY } from '../helpers/certificate.ts'
import { listen } from '../helpers/listen.ts'
import { until } from '../helpers/until.ts'

/** Connects as ioredis does, which ends the connection by the connector. */
async function connect (options: object, event: string) {
  const errors: Error[] = []
  const Connector = connectorTo((error) => errors.push(error))
  const connector = new Connector({ disconnectTimeout: 0, ...options })
  const socket = await connector.connect(() => {})
  await once(socket, event)
  connector.disconnect()
  return { connector, errors }
}

/** An owner of a client that does not look at what the client tells it. */
const OWNER: ClientOwner = {
  isClosed: () => false, patience: 1000, retryDelay: () => 50, connected () {}, failed () {}, note () {}
}

t.test('connects to a path', async (t) => {
  // Not in the folder of the tests: the path of a socket may have about a hundred characters.
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'redis')
  const server = createServer((socket) => socket.resume()).listen(path)
  t.teardown(() => server.close())
  await connect({ path }, 'connect')
})

t.test('connects by TLS with the options of the host: this certificate is not trusted without them', async (t) => {
  const port = await listen(t, createTlsServer({ cert: CERTIFICATE, key: KEY }))
  const lookup = (_host: string, { family }: { family: number }, done: any) => {
    t.equal(family, 4)
    done(null, '127.0.0.1', 4)
  }
  const tls = { ca: CERTIFICATE, servername: 'localhost', lookup }
  await connect({ host: 'redis.invalid', port, family: 4, tls }, 'secureConnect')
})

t.test('an error is kept for ioredis, when the connection failed at once, and noted', async (t) => {
  const { connector, errors } = await connect({ host: '255.255.255.255', port: 1 }, 'error')
  t.match(connector.firstError, { syscall: 'connect' })
  t.strictSame(errors, [connector.firstError])
})

t.test('what is written in one turn of the event loop leaves together, and does not wait for more', async (t) => {
  const received: string[] = []
  const port = await listen(t, createServer((socket) => socket.on('data', (bytes) => received.push(String(bytes)))))
  const connector = new (connectorTo(() => {}))({ disconnectTimeout: 0, host: '127.0.0.1', port })
  const connecting = connector.connect(() => {})
  const socket = await connecting as Socket
  await once(socket, 'connect')
  for (const turn of ['first', 'second']) {
    for (const command of ['a', 'b', 'c']) socket.write(command)
    t.equal(socket.writableCorked, 1, turn)
    await until(() => received.join('').endsWith('c'))
    t.equal(socket.writableCorked, 0, turn)
    t.strictSame(received.splice(0), ['abc'], turn)
  }
})

t.test('leaves the connector of the host in its place', async (t) => {
  class Own extends AbstractConnector {
    async connect (): Promise<Socket> { throw new Error('not from here') }
  }
  const client = ownClient({ Connector: Own as never }, OWNER)
  const [error] = await once(client, 'error')
  t.equal(error.message, 'not from here')
})

t.test('the time limits are ours, also for the nodes of a Cluster of the host', async (t) => {
  const host = new Cluster([{ port: 1 }], { lazyConnect: true, redisOptions: { commandTimeout: 5 } })
  const client = ownClient(host, OWNER)
  t.teardown(() => client.disconnect())
  t.match(client.options, { redisOptions: { commandTimeout: undefined, connectTimeout: 1000 } })
})
