// An app that is closed: what is under way is answered, what the plugin opened is let go of, and nothing else.
// Alone: it starts processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { signsIn } from '../contract/keeps-contract.ts'
import { Fastify } from '../helpers/fastify.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

t.test('closed while requests are under way', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  for (const store of [{}, { redis, keyPrefix }]) {
    let arrived = () => {}
    let goOn = () => {}
    const waiting = new Promise<void>((resolve) => { arrived = resolve })
    const closing = new Promise<void>((resolve) => { goOn = resolve })
    const { app, url } = await startHost(t, {
      ...store,
      async currentUser () {
        arrived()
        await closing
        return { id: 'alice', eligible: true }
      }
    })
    const answer = wire(url).authorize({}, null, { connection: 'close' })
    await waiting
    const closed = app.close()
    goOn()
    t.ok((await answer).redirect.get('code'), 'the browser gets its code')
    await closed
  }
})

t.test('a client of the host stays as it is', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  const client = new Redis(redis, { keyPrefix: 'own:' })
  t.teardown(() => client.disconnect())
  const before = JSON.stringify({ ...client.options, Connector: undefined })
  const listeners = client.eventNames().map((name) => [name, client.listenerCount(name)])

  const { app, url } = await startHost(t, { redis: client, keyPrefix })
  await signsIn(t, wire(url))
  await app.close()
  t.equal(await client.ping(), 'PONG', 'still connected')
  t.equal(JSON.stringify({ ...client.options, Connector: undefined }), before)
  const left = client.eventNames().map((name) => [name, client.listenerCount(name)])
  t.strictSame(left, listeners, 'and none of our listeners is left')
})

t.test('a client of the plugin is gone', async (t) => {
  const { url: redis, client, keyPrefix } = await someRedis(t)
  // Its own name, so that it is known among the others.
  const { hostname: host, port } = new URL(redis)
  const connectionName = `closing-${process.pid}`
  const { app, url } = await startHost(t, { redis: { host, port: Number(port), connectionName }, keyPrefix })
  await signsIn(t, wire(url))
  t.match(await client.client('LIST'), `name=${connectionName} `)
  await app.close()
  while (String(await client.client('LIST')).includes(`name=${connectionName} `)) await setTimeout(5)
  t.pass('Redis has seen it go')
})

t.test('an app that is closed without having listened', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  for (const store of [{}, { redis, keyPrefix }] as Array<Partial<PartnerSsoOptions<User>>>) {
    const app = Fastify()
    await app.register(partnerSso<User>, hostOptions(store))
    await app.close()
  }
})

// A process of its own: it ends by itself as soon as nothing is open any more.
const program = (redis: string | undefined) => `
  import { Fastify } from './test/helpers/fastify.ts'
  import partnerSso from './lib/index.ts'
  import { hostOptions, recordOf } from './test/helpers/host.ts'
  import { wire } from './test/helpers/wire.ts'
  const app = Fastify()
  await app.register(partnerSso, hostOptions(${JSON.stringify(redis === undefined ? {} : { redis })}))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const closing = (init) => ({ ...init, headers: { ...init.headers, connection: 'close' } })
  const portal = wire(url, undefined, { fetch: (target, init) => fetch(target, closing(init)) })
  const { text } = await portal.user(await portal.accessToken())
  if (text !== JSON.stringify(recordOf('alice'))) throw new Error(text)
  await portal.code()
  await app.close()
  console.log('closed')
`

t.test('no handle is left open', async (t) => {
  const { url: redis } = await someRedis(t)
  for (const store of [undefined, redis]) {
    const args = [...process.execArgv, '--input-type=module', '--eval', program(store)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    const exit = once(child, 'close')
    const [printed] = await Promise.race([once(child.stdout, 'data'), exit.then(() => ['nothing'])])
    t.match(String(printed), /closed/)
    // The limit only ends the wait for a process that hangs.
    const ended = await Promise.race([exit, setTimeout(30_000, 'still running', { ref: false })])
    t.strictSame(ended, [0, null], store === undefined ? 'with the in-process store' : 'with Redis')
  }
})
