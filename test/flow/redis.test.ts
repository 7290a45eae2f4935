// What a sign-in leaves and does in Redis: four commands, and nothing that anyone could read or use.
import { Redis } from 'ioredis'
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

t.test('four commands, whichever way Redis is given', async (t) => {
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

t.test('in mid-flow, nothing in Redis lets anyone in or names anyone', async (t) => {
  const { client, url: redis } = await startRedis(t)
  const { url } = await startHost(t, { redis, codeLifetime: 30, tokenLifetime: 20 })
  const portal = wire(url)
  const code = await portal.code('alice.anderson')
  const token = await portal.accessToken('bob.robertson')
  const keys = (await client.keys('*')).filter((key) => !key.includes('probe'))
  t.equal(keys.length, 2)
  const dump = (await Promise.all(keys.map(async (key) => `${key} ${await client.get(key)}`))).join('\n')
  const decoded = dump.split(/\s/).map((word) => Buffer.from(word, 'base64').toString('latin1')).join('\n')
  const parts = [code, token, token.slice(0, 20), token.slice(20), code.slice(0, 16), token.slice(0, 16)]
  // Each is so long that it does not occur by chance.
  const personal = ['alice.anderson', 'bob.robertson', 'partner.example', 'Name of', 'external_id', 'partner-123']
  for (const readable of [...parts, ...personal]) {
    t.notOk(dump.includes(readable) || decoded.includes(readable), readable)
  }
  for (const key of keys) t.match(key, /^partner-sso:[\w-]{20}$/)
  const [token1, code1] = (await Promise.all(keys.map(async (key) => await client.ttl(key)))).sort() as [number, number]
  t.ok(token1 > 10 && token1 <= 20, 'the token lives for tokenLifetime')
  t.ok(code1 > 20 && code1 <= 30, 'the code lives for codeLifetime')
})

t.test('what was changed in the store opens nothing', async (t) => {
  const { client, url: redis } = await startRedis(t)
  const { url } = await startHost(t, { redis, keyPrefix: 'other:' })
  const portal = wire(url)
  const [mine, stolen] = [await portal.code('mallory'), await portal.code('alice.anderson')]
  t.ok(mine !== stolen)
  const [first, second] = (await client.keys('other:*')).filter((key) => !key.includes('probe')) as [string, string]
  const [one, two] = [await client.get(first) as string, await client.get(second) as string]
  // Whoever can write to the store cannot make one user's code yield another user's record.
  await client.set(first, two)
  await client.set(second, one)
  t.equal((await portal.token({ code: mine })).json.error, 'invalid_grant')
  t.equal((await portal.token({ code: stolen })).json.error, 'invalid_grant')
})
