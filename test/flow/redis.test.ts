// What a sign-in does in Redis, whichever way Redis is given.
import { Redis } from 'ioredis'
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

t.test('four commands', async (t) => {
  const { client, port, url: redis } = await startRedis(t)
  const ways = { url: redis, options: { host: '127.0.0.1', port }, client: new Redis(port) }
  t.teardown(() => ways.client.disconnect())
  for (const [name, redis] of Object.entries(ways)) {
    const { url } = await startHost(t, { redis })
    const portal = wire(url)
    await portal.user(await portal.accessToken())
    await client.config('RESETSTAT')
    t.equal((await portal.user(await portal.accessToken())).status, 200)
    const stats = await client.info('commandstats')
    const commands = [...stats.matchAll(/cmdstat_(set|getdel|get|del|eval|ping):calls=(\d+)/g)]
    t.strictSame(commands.map(([, command, calls]) => `${command} ${calls}`).sort(), ['getdel 2', 'set 2'], name)
  }
})

t.test('records live for their lifetimes, under keys that tell nothing', async (t) => {
  const { client, url: redis } = await startRedis(t)
  const { url } = await startHost(t, { redis, codeLifetime: 30, tokenLifetime: 20 })
  await wire(url).code()
  await wire(url).accessToken()
  const keys = (await client.keys('*')).filter((key) => !key.includes('probe'))
  for (const key of keys) t.match(key, /^partner-sso:[\w-]{20}$/)
  const [token, code] = (await Promise.all(keys.map((key) => client.ttl(key)))).sort() as [number, number]
  t.ok(token > 10 && token <= 20, 'the token for tokenLifetime')
  t.ok(code > 20 && code <= 30, 'the code for codeLifetime')
})
