import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { OAuthError } from '../errors.ts'
import { StoreUnfit } from '../start-errors.ts'
import { describe, outageLog } from './outage.ts'
import type { Store, TimedStore } from './store.ts'
import { within } from '../time-limit.ts'

/** A store that the guard wraps. */
export interface BackingStore extends TimedStore {
  /** What the start tries beyond a probe. */
  start? (deadline: number): Promise<void>
  /** Why the store can never serve, according to the error; undefined when it may be back later. */
  unfit? (error: unknown): string | undefined
  /** Releases what the plugin opened. */
  close? (): void
}

/** Milliseconds. Fastify allows ten seconds for all of it (`pluginTimeout`). */
const START_TIMEOUT = 4000

export type GuardedStore = ReturnType<typeof guardStore>

/**
 * Wraps a store: errors and invalid return values become `store_unavailable`. Logs once when the store becomes
 * unavailable, and once when it is available again. `timeout` is the number of milliseconds that a request, or a probe,
 * may wait for the store.
 */
export function guardStore (store: BackingStore, timeout: number, log: FastifyBaseLogger) {
  const outage = outageLog(log)
  const operations: TimedStore = {
    put: (key, value, lifetime, deadline) => call(store.put(key, value, lifetime, deadline), ofPut),
    take: (key, deadline) => call(store.take(key, deadline), ofTake),
    revoke: (key, lifetime, deadline) => call(store.revoke(key, lifetime, deadline), ofRevoke)
  }
  return {
    ...operations,

    /** Waits for the store. Rejects when it can never serve a sign-in; one that is down does not hinder the start. */
    async start (): Promise<void> {
      const deadline = performance.now() + Math.min(timeout, START_TIMEOUT)
      await probe(deadline).then(() => store.start?.(deadline)).catch((error: unknown) => {
        const reason = store.unfit?.(error)
        if (reason !== undefined) throw new StoreUnfit(reason, describe(error))
      })
    },

    /** Whether the store can serve sign-ins now. */
    isReady: (): Promise<boolean> => probe(performance.now() + timeout).then(() => true, () => false),

    async close (): Promise<void> { store.close?.() }
  }

  /** Stores a value and takes it back, and revokes a key: the mark is left behind for a second. */
  async function probe (deadline: number): Promise<void> {
    const key = probeKey()
    // As long as the probe may take: the value must not expire before it is taken.
    const lifetime = Math.ceil(timeout / 1000) + 1
    try {
      const isStored = ofPut(await store.put(key, 'probe', lifetime, deadline))
      const taken = ofTake(await store.take(key, deadline))
      if (!isStored || taken !== 'probe') throw new Error('take did not return the value that was put')
      ofRevoke(await store.revoke(probeKey(), 1, deadline))
    } catch (error) {
      outage.lost(describe(error))
      throw error
    }
    outage.found()
  }

  async function call<T> (operation: Promise<unknown>, checked: (result: unknown) => T): Promise<T> {
    let result
    try {
      result = checked(await operation)
    } catch (error) {
      const cause = describe(error)
      outage.lost(cause).refused++
      throw new OAuthError('store_unavailable', { cause })
    }
    outage.found()
    return result
  }
}

/** As long as every other key: a table of the host may have room for 20 characters. */
function probeKey (): string {
  return `probe-${randomBytes(7).toString('hex')}`
}

const ofPut = (result: unknown): boolean =>
  typeof result === 'boolean' ? result : invalid('put', result, 'a boolean')
const ofTake = (result: unknown): string | null => textOrNull('take', result)
const ofRevoke = (result: unknown): string | null => textOrNull('revoke', result)

function textOrNull (name: string, result: unknown): string | null {
  return typeof result === 'string' || result === null ? result : invalid(name, result, 'a string or null')
}

/** The error names only the kind of a result: it may be a stored value. */
function invalid (name: string, result: unknown, expected: string): never {
  throw new Error(`${name} returned ${result === null ? 'null' : typeof result} instead of ${expected}`)
}

/** Adds the time limit to a store of the host. */
export function withDeadlines (store: Store): TimedStore {
  const late = (): Error => new Error('The store did not respond in time')
  return {
    put: (key, value, lifetime, deadline) => within(deadline, () => store.put(key, value, lifetime), late),
    take: (key, deadline) => within(deadline, () => store.take(key), late),
    revoke: (key, lifetime, deadline) => within(deadline, () => store.revoke(key, lifetime), late)
  }
}
