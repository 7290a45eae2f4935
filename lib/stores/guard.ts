import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { OAuthError } from '../errors.ts'
import { StoreUnfit } from '../start-errors.ts'
import { describe, OutageLog } from './outage-log.ts'
import type { Store, TimedStore } from './store.ts'
import { within } from '../time-limit.ts'

/** A store that the guard wraps. */
export interface BackingStore extends TimedStore {
  /** What the start tries beyond a probe. */
  start? (deadline: number): Promise<void>
  /** What each probe tries where the store has several parts, such as the masters of a Redis Cluster. */
  everyPart? (deadline: number): Promise<void>
  /** Why the store can never serve, according to the error; undefined when it may be back later. */
  unfit? (error: unknown): string | undefined
  /** Releases what the plugin opened. */
  close? (): void
}

/** Milliseconds. Fastify allows ten seconds for all of it (`pluginTimeout`). */
const START_TIMEOUT = 4000
/** Milliseconds beyond the time limit of a request: when nothing fails for so long, an outage is over. */
const QUIET_TIME = 5000

/**
 * Wraps a store: errors and invalid return values become `store_unavailable`. Logs once when the store becomes
 * unavailable, and once when it is available again.
 */
export class GuardedStore implements TimedStore {
  readonly #store: BackingStore
  readonly #timeout: number
  readonly #outage: OutageLog

  /** `timeout` is the number of milliseconds that a request, or a probe, may wait for the store. */
  constructor (store: BackingStore, timeout: number, log: FastifyBaseLogger) {
    this.#store = store
    this.#timeout = timeout
    this.#outage = new OutageLog(log, timeout + QUIET_TIME)
  }

  /** Waits for the store. Rejects when it can never serve a sign-in; one that is down does not hinder the start. */
  async start (): Promise<void> {
    const deadline = performance.now() + Math.min(this.#timeout, START_TIMEOUT)
    try {
      await this.#probe(deadline)
      await this.#store.start?.(deadline)
    } catch (error) {
      const reason = this.#store.unfit?.(error)
      if (reason !== undefined) throw new StoreUnfit(reason, describe(error))
    }
  }

  /** Whether all parts of the store can serve sign-ins now. */
  async isReady (): Promise<boolean> {
    return await this.#probe(performance.now() + this.#timeout).then(() => true, () => false)
  }

  put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean> {
    return this.#call(this.#store.put(key, value, lifetime, deadline), ofPut)
  }

  take (key: string, deadline: number): Promise<string | null> {
    return this.#call(this.#store.take(key, deadline), ofTake)
  }

  revoke (key: string, lifetime: number, deadline: number): Promise<string | null> {
    return this.#call(this.#store.revoke(key, lifetime, deadline), ofRevoke)
  }

  close (): void {
    this.#store.close?.()
  }

  /** Stores a value and takes it back, and revokes a key: the mark is left behind for a second. */
  async #probe (deadline: number): Promise<void> {
    const key = probeKey()
    // As long as the probe may take: the value must not expire before it is taken.
    const lifetime = Math.ceil(this.#timeout / 1000) + 1
    try {
      const isStored = ofPut(await this.#store.put(key, 'probe', lifetime, deadline))
      const taken = ofTake(await this.#store.take(key, deadline))
      if (!isStored || taken !== 'probe') throw new Error('take did not return the value that was put')
      ofRevoke(await this.#store.revoke(probeKey(), 1, deadline))
      await this.#store.everyPart?.(deadline)
    } catch (error) {
      this.#outage.failed(describe(error))
      throw error
    }
    this.#outage.succeeded()
  }

  async #call<T> (operation: Promise<unknown>, checked: (result: unknown) => T): Promise<T> {
    let result
    try {
      result = checked(await operation)
    } catch (error) {
      const cause = describe(error)
      this.#outage.refused(cause)
      throw new OAuthError('store_unavailable', { cause })
    }
    this.#outage.succeeded()
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
export class TimeLimitedStore implements TimedStore {
  readonly #store: Store

  constructor (store: Store) {
    this.#store = store
  }

  put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean> {
    return within(deadline, () => this.#store.put(key, value, lifetime), late)
  }

  take (key: string, deadline: number): Promise<string | null> {
    return within(deadline, () => this.#store.take(key), late)
  }

  revoke (key: string, lifetime: number, deadline: number): Promise<string | null> {
    return within(deadline, () => this.#store.revoke(key, lifetime), late)
  }
}

function late (): Error {
  return new Error('The store did not respond in time')
}
