// What the log says of a store's failure: always something, never a key or value.
import t from 'tap'
import type { Store } from '../../lib/index.ts'
import { scene } from './scene.ts'

const working: Store = { put: async () => true, take: async () => null, revoke: async () => false }

t.test('a store that holds a key that was never used: an error of the host, not a store that is away', async (t) => {
  const host = await scene(t, { store: { ...working, put: async () => false } })
  const answer = await host.portal.authorize()
  t.equal(answer.redirect.get('error'), 'server_error')
  const logged = host.log.find(({ level, event }) => level === 50 && event === 'request_rejected')
  t.match(logged, { event: 'request_rejected', reason: 'internal_error', err: /never used/ })
})

t.test('a store that throws what is no error', async (t) => {
  const thrown: unknown = 'the cupboard is locked'
  const host = await scene(t, { store: { ...working, put: async () => { throw thrown } } })
  t.equal((await host.portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  t.match(host.log.find(({ level }) => level === 50), { cause: 'the cupboard is locked' })
})
