// A host's tests install fake timers before they import its app, and its own store hangs: the guard still refuses the
// call in time.
// Alone: it replaces the timers of its process.
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import type { Store } from '../../lib/index.ts'

t.test('a hanging store of the host under fake timers', async (t) => {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
  t.teardown(() => Object.assign(globalThis, real))
  for (const name of Object.keys(real)) Object.assign(globalThis, { [name]: () => 1 })
  const { GuardedStore, TimeLimitedStore } = await import('../../lib/stores/guard.ts')
  const never = new Promise<never>(() => {})
  const hanging: Store = { put: () => never, take: () => never, revoke: async () => null }
  const lines: object[] = []
  const log = { error: (fields: object) => lines.push(fields) } as unknown as FastifyBaseLogger
  const store = new GuardedStore(new TimeLimitedStore(hanging), 1, log)
  t.equal(await store.isReady(), false)
  const error = await store.take('key', performance.now() + 1).catch((error: unknown) => error)
  t.match(error, { reason: 'store_unavailable' })
  t.match(lines, [{ event: 'store_unavailable', cause: 'The store did not respond in time' }])
})
