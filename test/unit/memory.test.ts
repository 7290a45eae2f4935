// The in-process store. That it keeps the promises of a store is shown by test/stores and test/attacks/store-model.
import t, { type Test } from 'tap'
import { memoryStore } from '../../lib/stores/memory.ts'

function storeOf (t: Test, limit: number): ReturnType<typeof memoryStore> {
  const store = memoryStore(limit)
  t.teardown(() => store.close())
  return store
}

t.test('at the limit the oldest record goes: a mark of a revocation is as old as it is', async (t) => {
  const store = storeOf(t, 3)
  await store.put('code', 'value', 60)
  await store.revoke('revoked', 120)
  await store.put('token', 'value', 60)
  await store.put('one more', 'value', 60)
  t.equal(await store.take('code'), null, 'the oldest has gone, and not the mark')
  t.equal(await store.put('revoked', 'value', 60), false, 'the mark is still there')
  t.equal(await store.take('token'), 'value')
})

t.test('at the limit a long lifetime does not push out younger records of a short one', async (t) => {
  // Codes that live longer than tokens: who asks for many codes must not push out the tokens of others.
  const store = storeOf(t, 10)
  for (let count = 0; count < 10; count++) await store.put(`code ${count}`, 'value', 600)
  await store.put('token', 'value', 60)
  for (let count = 10; count < 19; count++) await store.put(`code ${count}`, 'value', 600)
  t.equal(await store.take('token'), 'value', 'nine records are younger')
  t.equal(await store.take('code 9'), null)
  t.equal(await store.take('code 10'), 'value')
})

t.test('a value that is put again after it was taken is young again', async (t) => {
  const store = storeOf(t, 2)
  await store.put('a', 'value', 60)
  await store.put('b', 'value', 60)
  await store.take('a')
  await store.put('a', 'value', 60)
  await store.put('c', 'value', 60)
  t.equal(await store.take('b'), null)
  t.equal(await store.take('a'), 'value')
})

t.test('closed, it holds nothing', async (t) => {
  const store = storeOf(t, 2)
  await store.put('a', 'value', 60)
  store.close()
  t.equal(await store.take('a'), null)
})
