// How the client of Redis connects: test/stores and test/faults connect to a host and a port.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { AbstractConnector, Cluster } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { connectorTo } from '../../lib/stores/redis-connector.ts'
import { ownClient } from '../../lib/stores/redis-own-client.ts'
import { CERTIFICATE, KEY } from '../helpers/certificate.ts'
import { listen } from '../helpers/listen.ts'

/** Connects as ioredis does, which ends the connection by the connector. */
async function connect (t: Test, options: object, event: string) {
  const sockets: Socket[] = []
  const Connector = connectorTo((socket) => sockets.push(socket))!
  const connector = new Connector({ disconnectTimeout: 0, ...options })
  const socket = await connector.connect(() => {})
  await once(socket, event)
  t.same(sockets, [socket])
  connector.disconnect()
  return connector
}

t.test('connects to a path', async (t) => {
  const path = join(t.testdir(), 'redis')
  const server = createServer((socket) => socket.resume()).listen(path)
  t.teardown(() => server.close())
  await connect(t, { path }, 'connect')
})

t.test('connects by TLS with the options of the host: this certificate is not trusted without them', async (t) => {
  const port = await listen(t, createTlsServer({ cert: CERTIFICATE, key: KEY }))
  const lookup = (_host: string, { family }: { family: number }, done: any) => {
    t.equal(family, 4)
    done(null, '127.0.0.1', 4)
  }
  const tls = { ca: CERTIFICATE, servername: 'localhost', lookup }
  await connect(t, { host: 'redis.invalid', port, family: 4, tls }, 'secureConnect')
})

t.test('keeps the error of a connection that failed at once, for ioredis', async (t) => {
  const { firstError } = await connect(t, { host: '255.255.255.255', port: 1 }, 'error')
  t.match(firstError, { syscall: 'connect' })
})

t.test('leaves the connector of the host in its place', async (t) => {
  class Own extends AbstractConnector {
    async connect (): Promise<Socket> { throw new Error('not from here') }
  }
  const client = ownClient({ Connector: Own as never }, 1000, connectorTo(() => t.fail('ours was used')))
  const [error] = await once(client, 'error')
  t.equal(error.message, 'not from here')
})

t.test('the time limits are ours, also for the nodes of a Cluster of the host', async (t) => {
  const host = new Cluster([{ port: 1 }], { lazyConnect: true, redisOptions: { commandTimeout: 5 } })
  const client = ownClient(host, 1000, undefined)
  t.teardown(() => client.disconnect())
  t.match(client.options, { redisOptions: { commandTimeout: undefined, connectTimeout: 1000 } })
})
