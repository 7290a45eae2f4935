// A host's tests install fake timers before they import its app, as Vitest and Sinon do: no request may wait for them.
// Alone: it replaces the timers of its process.
import type { FastifyInstance } from 'fastify'
import t from 'tap'

t.test('the plugin is imported under fake timers', async (t) => {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
  t.teardown(() => Object.assign(globalThis, real))
  for (const name of Object.keys(real)) Object.assign(globalThis, { [name]: () => 1 })
  const { Fastify } = await import('../helpers/fastify.ts')
  const { hostOptions } = await import('../helpers/host.ts')
  const { inProcess } = await import('../helpers/wire.ts')
  const { default: partnerSso } = await import('../../lib/index.ts')
  const app = Fastify() as FastifyInstance
  t.teardown(() => app.close())
  await app.register(partnerSso, hostOptions({ store: 'memory' }))
  t.ok(await inProcess(app).code())
})
