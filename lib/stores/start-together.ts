import type { GuardedStore } from './guard.ts'

interface StoresOfApp {
  stores: GuardedStore[]
  /** The start of all of them, once it has begun. */
  started?: Promise<unknown>
}

const storesOf = new WeakMap<object, StoresOfApp>()

/**
 * The hook `onReady` of a registration: starts the stores of all registrations of the app at the same time. Fastify
 * runs the hooks one after the other, and allows ten seconds for all of them (`pluginTimeout`), but a store that is
 * down is waited for some seconds. The hook rejects when one of the stores can never serve.
 */
export function startTogether (app: { server: object }, store: GuardedStore): () => Promise<void> {
  const ofApp: StoresOfApp = storesOf.get(app.server) ?? { stores: [] }
  storesOf.set(app.server, ofApp)
  ofApp.stores.push(store)
  return async () => {
    ofApp.started ??= Promise.all(ofApp.stores.map((each) => each.start()))
    await ofApp.started
  }
}
