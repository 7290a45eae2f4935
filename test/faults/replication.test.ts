// What asynchronous replication does to single use (SECURITY.md): a code that was redeemed on a master comes back on
// the replica that is promoted after it, when the master dies before the replica has heard of it. This is Redis, not
// the plugin.
import t from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { replicated } from '../helpers/outages.ts'

t.test('a redeemed code comes back when the replica lags', async (t) => {
  const [master, replica] = await Promise.all([startRedis(t, ['--repl-diskless-sync-delay', '0']), startRedis(t)])
  const link = await startProxy(t, master.port)
  const [store, promoted] = [master, replica].map(({ client }) => withTimeLimit(new RedisStore(client, 'p:', 1000)))
  await replica.client.replicaof('127.0.0.1', link.port)
  await store?.put('code', 'value', 3600)
  await replicated(master)
  link.onReply = () => 'swallow'
  t.equal(await store?.take('code'), 'value')
  link.cut()
  await replica.client.replicaof('NO', 'ONE')
  t.equal(await promoted?.take('code'), 'value')
})
