import type { Store, TimedStore } from '../../lib/stores/store.ts'

/** The store with a time limit for each call, as `checkStore` takes it. */
export function withTimeLimit (store: TimedStore, milliseconds = 60_000): Store {
  const deadline = (): number => performance.now() + milliseconds
  return {
    put: (key, value, lifetime) => store.put(key, value, lifetime, deadline()),
    take: (key) => store.take(key, deadline()),
    revoke: (key, lifetime) => store.revoke(key, lifetime, deadline())
  }
}
