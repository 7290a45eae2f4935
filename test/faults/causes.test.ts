// What the log says of a store's failure: always something, never a key or value.
import { type Redis } from 'ioredis'
import t from 'tap'
import { type Store } from '../../lib/index.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { openConnection } from '../../lib/stores/redis-connection.ts'
import { freePort } from '../helpers/ports.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { scene } from './scene.ts'

const working: Store = { put: async () => true, take: async () => null, revoke: async () => false }

t.test('a store that holds a key that was never used: an error of the host, not a store that is away', async (t) => {
  const host = await scene(t, { store: { ...working, put: async () => false } })
  const answer = await host.portal.authorize()
  t.equal(answer.redirect.get('error'), 'server_error')
  const logged = host.log.find(({ level, event }) => level === 50 && event !== undefined)
  t.match(logged, { event: 'request_rejected', reason: 'internal_error', err: /never used/ })
})

t.test('a store that throws what is no error', async (t) => {
  const thrown: unknown = 'the cupboard is locked'
  const host = await scene(t, { store: { ...working, put: async () => { throw thrown } } })
  t.equal((await host.portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  t.match(host.log.find(({ level }) => level === 50), { cause: 'the cupboard is locked' })
})

t.test('a connection error that has a code and no message, as for a name with several addresses', async (t) => {
  const { client, trouble, close } = openConnection(`redis://127.0.0.1:${await freePort()}`, 100, () => t.fail())
  t.teardown(close)
  ;(client as Redis).emit('error', Object.assign(new Error(''), { code: 'ECONNREFUSED' }))
  t.equal(trouble(), ': ECONNREFUSED')
  const store = withTimeLimit(new RedisStore(client, 'p:', 1000), 100)
  await t.rejects(store.take('key'), { message: /^Redis is not connected \(\w+\)$/ })
})
