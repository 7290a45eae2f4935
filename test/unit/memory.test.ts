// When the in-process store works: in the next turn of the event loop, for all who ask in this one.
// That it keeps its promises is shown by test/stores and test/attacks/store-model.
import t from 'tap'
import { memoryStore } from '../../lib/stores/memory.ts'

t.test('each operation begins in the next turn, time and again', async (t) => {
  const store = memoryStore(10)
  t.teardown(() => store.close())
  const operations: Array<() => Promise<unknown>> = [() => store.put('a', 'value', 60), () => store.take('a'), () => store.revoke('a', 60)]
  for (const operation of [...operations, ...operations]) {
    let turns = 0
    const turn = setImmediate(() => { turns++ })
    await operation()
    clearImmediate(turn)
    t.equal(turns, 1)
  }
})

t.test('what is asked for in one turn is answered in one, in its order', async (t) => {
  const store = memoryStore(10)
  t.teardown(() => store.close())
  let turns = 0
  const answered: Array<[name: string, turns: number]> = []
  const note = (name: string) => () => { answered.push([name, turns]) }
  const answers = [
    store.put('a', 'value', 60).then(note('put')),
    store.take('a').then(note('take')),
    store.revoke('a', 60).then(note('revoke'))
  ]
  setImmediate(() => { turns++ })
  await Promise.all(answers)
  t.strictSame(answered, [['put', 0], ['take', 0], ['revoke', 0]], 'no turn in between')
})
