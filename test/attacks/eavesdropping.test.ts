// Someone listens on the way to Redis, or responds in its place. With rediss:// nothing can be read on the way, and a
// server whose certificate is not trusted gets no command.
import { once } from 'node:events'
import { connect } from 'node:net'
import { createServer } from 'node:tls'
import t from 'tap'
import { CERTIFICATE, KEY } from '../helpers/certificate.ts'
import { startApp } from '../app.ts'
import { listen } from '../helpers/listen.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../wire.ts'

t.test('a server with a self-signed certificate gets nothing, unless the host trusts it', async (t) => {
  const redis = await startRedis(t)
  let received = 0
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
    const behind = connect(redis.port, '127.0.0.1').on('error', () => socket.destroy())
    socket.on('error', () => behind.destroy()).on('data', () => { received++ })
    socket.pipe(behind).pipe(socket)
  })
  const refused = once(server, 'tlsClientError')
  const port = await listen(t, server)
  const trusting = `rediss://:secret@localhost:${port}`
  const { url: stranger } = await startApp(t, { options: { redis: trusting, storeTimeout: 200 } })
  t.equal((await wire(stranger).authorize()).redirect.get('error'), 'temporarily_unavailable')
  await refused
  t.equal(received, 0)

  const tls = { ca: CERTIFICATE, servername: 'localhost' }
  const { url } = await startApp(t, { options: { redis: { host: '127.0.0.1', port, tls }, storeTimeout: 10_000 } })
  const portal = wire(url)
  t.equal((await portal.user(await portal.accessToken())).status, 200)
})
