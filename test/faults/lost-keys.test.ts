// Redis is there, and what was in it is not.
import t from 'tap'
import { startRedis } from '../helpers/redis.ts'
import { goods, scene, signIn, usedUp } from './scene.ts'

t.test('FLUSHALL: codes and tokens are as if expired; the next sign-in works', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  const lost = await goods(host)
  await redis.client.flushall()
  await usedUp(t, host, lost)
  await signIn(t, host)
  t.notOk(host.log.some(({ level }) => level >= 50))
})

t.test('live keys are evicted: the same', async (t) => {
  const redis = await startRedis(t, ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-random'])
  const host = await scene(t, { redis: redis.url })
  const lost = await goods(host)
  const fill = 'for i = 1, 2000 do redis.call("SET", ARGV[1] .. i, string.rep("x", 500)) end'
  for (let round = 0; (await redis.client.keys('partner-sso:*')).length > 0; round++) {
    await redis.client.eval(fill, 0, `${round}-`)
  }
  // From now on nothing more is evicted.
  await redis.client.config('SET', 'maxmemory', '0')
  await usedUp(t, host, lost)
  await signIn(t, host)
  t.notOk(host.log.some(({ level }) => level >= 50))
})
