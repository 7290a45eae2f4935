// The in-process store: its limits, and that it forgets what has expired. What every store promises: stores.
import t from 'tap'
import { MemoryStore } from '../../lib/stores/memory.ts'
import type { Store } from '../../lib/stores/store.ts'
import { clockOf } from '../clock.ts'

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `key-${index}`)

t.test('at the limit the oldest record goes, whatever its lifetime; put or revoked again, it is young', async (t) => {
  const store = new MemoryStore(3)
  for (const key of ['taken', 'oldest', 'revoked']) await store.put(key, 'value', 600)
  await store.take('taken')
  await store.put('taken', 'value', 60)
  await store.revoke('revoked', 60)
  await store.put('one more', 'value', 1)
  t.equal(await store.take('oldest'), null)
  t.equal(await store.put('revoked', 'value', 60), false)
  t.equal(await store.take('taken'), 'value')
})

t.test('at the limit a revocation of a record takes no other one\'s room', async (t) => {
  const store = new MemoryStore(3)
  for (const key of ['a', 'b', 'c']) await store.put(key, 'value', 60)
  await store.revoke('c', 60)
  t.equal(await store.take('a'), 'value')
})

t.test('64 MiB of values: the oldest goes', async (t) => {
  const store = new MemoryStore(100_000)
  for (const key of names(9)) await store.put(key, 'x'.repeat(8 * 1024 * 1024), 60)
  t.equal(await store.take('key-0'), null)
  t.equal((await store.take('key-1'))?.length, 8 * 1024 * 1024)
})

/** How records go. */
const ends: Record<string, (store: Store, key: string) => Promise<unknown>> = {
  taken: (store, key) => store.take(key),
  revoked: (store, key) => store.revoke(key, 60),
  expired: async () => {}
}

t.test('64 MiB of values: whatever goes leaves its room', async (t) => {
  const value = 'x'.repeat(8 * 1024 * 1024)
  for (const [end, go] of Object.entries(ends)) {
    const clock = clockOf(t)
    const store = new MemoryStore(8)
    const all = (call: (key: string) => Promise<unknown>) => clock.run(() => Promise.all(names(8).map(call)))
    const fill = () => all((key) => store.put(key, value, 60))
    await fill()
    await all((key) => go(store, key))
    clock.pass(60_000)
    await fill()
    t.notOk((await all((key) => store.take(key))).includes(null), end)
  }
})

t.test('what has expired is dropped with a later put, where no older record is alive', async (t) => {
  const clock = clockOf(t)
  const store = new MemoryStore(10)
  const put = (key: string, lifetime: number) => clock.run(() => store.put(key, 'value', lifetime))
  for (const key of names(3)) await put(key, 60)
  await put('long', 600)
  await put('younger', 60)
  const removed = t.capture(Map.prototype, 'delete', Map.prototype.delete)
  clock.pass(60_000)
  await put('next', 600)
  const dropped = removed().map(({ args: [key] }) => String(key))
  t.strictSame(dropped.filter((key) => [...names(3), 'long', 'younger'].includes(key)), names(3))
})
