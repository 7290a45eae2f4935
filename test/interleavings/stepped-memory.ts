// The plugin's own in-process store. Every operation waits until the explorer lets it happen, and then runs to its end.
import { byClock, newClock } from './clock.ts'
import { type Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/stores/memory.ts'
import { begin, type SteppedStore } from './world.ts'

const LIMIT = 100

/** The in-process store under the explorer. */
export function steppedMemory (): SteppedStore {
  let inner = memoryStore(LIMIT)
  // What cannot be looked into is told by what has been done to it.
  let past: string[] = []
  let put: Parameters<Store['put']> | undefined

  function operation<T> (name: string, key: string, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      begin({
        name: `${name} ${put === undefined || key === put[0] ? 'code' : 'token'}`,
        execute () {
          past.push(name)
          return run()
        },
        answer: (reply) => { (reply as Promise<T>).then(resolve, reject) }
      })
    })
  }

  const store: Store = {
    put (key, value, lifetime) {
      const result = operation('put', key, () => inner.put(key, value, lifetime))
      if (!key.includes('probe-')) put ??= [key, value, lifetime]
      return result
    },
    take: (key) => operation('take', key, () => inner.take(key)),
    revoke: (key, lifetime) => operation('revoke', key, () => inner.revoke(key, lifetime))
  }
  return {
    options: { store },
    perProcess: false,
    age () {},
    held: () => Object.fromEntries(past.entries()),
    save () {
      const kept = put
      return async () => {
        inner = memoryStore(LIMIT)
        past = []
        put = kept
        if (kept !== undefined) await byClock(newClock(), () => inner.put(...kept))
      }
    }
  }
}
