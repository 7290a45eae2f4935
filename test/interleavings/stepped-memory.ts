// The plugin's own in-process store. Every operation waits until the explorer lets it happen, and then runs to its end.
import { byClock, newClock } from '../helpers/virtual-clock.ts'
import type { Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/stores/memory.ts'
import { begin, isProbe } from './world.ts'
import type { SteppedStore } from './world.ts'

const LIMIT = 100

/** The in-process store under the explorer, or what is given in its place. */
export function steppedMemory (makeStore: (limit: number) => Store = (limit) => memoryStore(limit)): SteppedStore {
  let inner = makeStore(LIMIT)
  // Its state cannot be read: the operations so far represent it.
  let past: Record<'code' | 'token', string[]> = { code: [], token: [] }
  let put: Parameters<Store['put']> | undefined

  function operation<T> (name: string, key: string, run: () => Promise<T>): Promise<T> {
    const what = put === undefined || key === put[0] ? 'code' : 'token'
    return new Promise((resolve) => {
      begin({
        name: `${name} ${what}`,
        execute () {
          past[what].push(name)
          return run()
        },
        deliver: (reply) => resolve(reply as T)
      })
    })
  }

  const store: Store = {
    put (key, value, lifetime) {
      const result = operation('put', key, () => inner.put(key, value, lifetime))
      if (!isProbe(key)) put ??= [key, value, lifetime]
      return result
    },
    take: (key) => operation('take', key, () => inner.take(key)),
    revoke: (key, lifetime) => operation('revoke', key, () => inner.revoke(key, lifetime))
  }
  return {
    options: { store },
    perProcess: false,
    age () {
      for (const operations of Object.values(past)) operations.push('a minute')
    },
    held: () => Object.fromEntries(Object.entries(past).map(([what, operations]) => [what, operations.join()])),
    save () {
      const kept = put
      return async () => {
        inner = makeStore(LIMIT)
        past = { code: [], token: [] }
        put = kept
        if (kept !== undefined) await byClock(newClock(), () => inner.put(...kept))
      }
    }
  }
}
