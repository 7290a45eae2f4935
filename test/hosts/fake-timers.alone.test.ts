// A host's tests install fake timers before they import its app, as Vitest and Sinon do: no request may wait for them.
// Alone: it replaces the timers of its process.
import t from 'tap'

t.test('the plugin is imported under fake timers', async (t) => {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
  t.teardown(() => Object.assign(globalThis, real))
  for (const name of Object.keys(real)) Object.assign(globalThis, { [name]: () => 1 })
  const { partnerApp } = await import('../app.ts')
  const { inProcess } = await import('../wire.ts')
  const app = partnerApp()
  t.teardown(() => app.close())
  t.ok(await inProcess(app).code())
})
