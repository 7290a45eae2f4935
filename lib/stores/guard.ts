import { type Deadline } from './deadline.ts'
import { OAuthError } from '../errors.ts'
import { randomSecret } from '../grants/sealing.ts'
import { type Store } from './store.ts'

/** Told when the store becomes unavailable, with the cause, and when it is available again. */
export type OnAvailability = (available: boolean, cause?: string) => void

/** Stands before a store: whatever fails is `store_unavailable`, and a change of state is told once. */
export class GuardedStore implements Store {
  available = true
  readonly #store: Store
  readonly #onAvailability: OnAvailability

  constructor (store: Store, onAvailability: OnAvailability) {
    this.#store = store
    this.#onAvailability = onAvailability
  }

  put (key: string, value: string, lifetime: number): Promise<boolean> {
    return this.#call(() => this.#store.put(key, value, lifetime))
  }

  take (key: string): Promise<string | null> {
    return this.#call(() => this.#store.take(key))
  }

  revoke (key: string, lifetime: number): Promise<void> {
    return this.#call(() => this.#store.revoke(key, lifetime))
  }

  /** Makes sure that the store does what is asked of it: keeps something and gives it back. */
  probe (): Promise<void> {
    const key = `probe-${randomSecret()}`
    return this.#call(async () => {
      const isKept = await this.#store.put(key, 'probe', 1) === true && await this.#store.take(key) === 'probe'
      if (!isKept) throw new Error('It did not keep what was put and give it back')
    })
  }

  async #call<T> (operation: () => Promise<T>): Promise<T> {
    try {
      const result = await operation()
      this.#change(true)
      return result
    } catch (error) {
      const cause = describe(error)
      this.#change(false, cause)
      throw new OAuthError('store_unavailable', { cause })
    }
  }

  #change (available: boolean, cause?: string): void {
    if (available === this.available) return
    this.available = available
    this.#onAvailability(available, cause)
  }
}

/** Redis repeats the arguments of a command in some errors, and ioredis adds them all: only the sentence is kept. */
function describe (error: unknown): string {
  return String(error instanceof Error ? error.message : error).replace(/, with args.*/s, '')
}

/** Puts a time limit on each call of a store that has none of its own. */
export function timed (store: Store, deadline: Deadline): Store {
  return {
    put: (key, value, lifetime) => deadline.within(() => store.put(key, value, lifetime)),
    take: (key) => deadline.within(() => store.take(key)),
    revoke: (key, lifetime) => deadline.within(() => store.revoke(key, lifetime))
  }
}
