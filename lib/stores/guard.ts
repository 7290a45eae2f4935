import { randomBytes } from 'node:crypto'
import { OAuthError } from '../errors.ts'
import { type Store, type TimedStore } from './store.ts'
import { within } from './time-limit.ts'

/** Called when the store becomes unavailable, with the cause, and when it is available again. */
export type OnAvailability = (available: boolean, cause?: string) => void

/**
 * Stands before a store. Whatever fails, and whatever is no answer of the operation, is `store_unavailable`. A change
 * of state is reported once.
 */
export class GuardedStore implements TimedStore {
  /** The error of the last call; null while the store is available. */
  failure: unknown = null
  readonly #store: TimedStore
  readonly #onAvailability: OnAvailability

  constructor (store: TimedStore, onAvailability: OnAvailability) {
    this.#store = store
    this.#onAvailability = onAvailability
  }

  put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean> {
    return this.#call('put', isBoolean, () => this.#store.put(key, value, lifetime, deadline))
  }

  take (key: string, deadline: number): Promise<string | null> {
    return this.#call('take', isTextOrNull, () => this.#store.take(key, deadline))
  }

  revoke (key: string, lifetime: number, deadline: number): Promise<boolean> {
    return this.#call('revoke', isBoolean, () => this.#store.revoke(key, lifetime, deadline))
  }

  /** Stores a value and takes it back. Rejects when the store does not do so by the deadline. */
  probe (deadline: number): Promise<true> {
    const key = probeKey()
    return this.#call('probe', isKept, async () =>
      await this.#store.put(key, 'probe', 1, deadline) === true && await this.#store.take(key, deadline) === 'probe')
  }

  /** The same, and revokes a key: for the start, since the mark is left behind for a second. */
  async probeAll (deadline: number): Promise<void> {
    await this.probe(deadline)
    await this.revoke(probeKey(), 1, deadline)
  }

  async #call<T> (
    name: string,
    isAnswer: (value: unknown) => value is T,
    operation: () => Promise<unknown>
  ): Promise<T> {
    try {
      const answer = await operation()
      if (!isAnswer(answer)) throw new Error(wrongAnswer(name, answer))
      this.#change(null)
      return answer
    } catch (thrown) {
      const error = thrown ?? new Error('The store threw nothing')
      this.#change(error)
      throw new OAuthError('store_unavailable', { cause: describe(error) })
    }
  }

  #change (failure: unknown): void {
    const changed = (failure === null) !== (this.failure === null)
    this.failure = failure
    if (!changed) return
    if (failure === null) this.#onAvailability(true)
    else this.#onAvailability(false, describe(failure))
  }
}

/** As long as every other key: a table of the host may have room for 20 characters. */
function probeKey (): string {
  return `probe-${randomBytes(12).toString('base64url').slice(0, 14)}`
}

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isTextOrNull = (value: unknown): value is string | null => typeof value === 'string' || value === null
const isKept = (value: unknown): value is true => value === true

function wrongAnswer (name: string, answer: unknown): string {
  if (name === 'probe') return 'It did not keep what was put and give it back'
  // Only the kind: the answer may be a stored value.
  return `${name} gave ${answer === null ? 'null' : typeof answer}`
}

/** The sentence of an error. Redis repeats the arguments of a command in some of them: these are cut off. */
export function describe (error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error).replace(/, with args.*/s, '')
  } catch {
    return 'An error without a readable message'
  }
}

/** Puts a time limit on each call of a store that has none of its own. */
export function timed (store: Store): TimedStore {
  return {
    put: (key, value, lifetime, deadline) => within(deadline, () => store.put(key, value, lifetime)),
    take: (key, deadline) => within(deadline, () => store.take(key)),
    revoke: (key, lifetime, deadline) => within(deadline, () => store.revoke(key, lifetime))
  }
}
