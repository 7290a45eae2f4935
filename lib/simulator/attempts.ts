import { randomBytes } from 'node:crypto'
import { type Attempt } from './attempt.ts'

const MOST = 50

/** The latest attempts, and which of them each browser session is in (spec §1, step 3: on the server only). */
export class Attempts {
  readonly #attempts = new Map<string, Attempt>()
  readonly #sessions = new Map<string, Attempt>()

  /** Keeps an attempt as the current one of a new browser session; returns the session's identifier. */
  keep (attempt: Attempt): string {
    const session = randomBytes(32).toString('base64url')
    this.#attempts.set(attempt.id, attempt)
    this.#sessions.set(session, attempt)
    trim(this.#attempts)
    trim(this.#sessions)
    return session
  }

  find (id: string): Attempt | undefined {
    return this.#attempts.get(id)
  }

  /** The attempt of a browser session. */
  ofSession (session: string | undefined): Attempt | undefined {
    return session === undefined ? undefined : this.#sessions.get(session)
  }

  /** Newest first. */
  latest (): Attempt[] {
    return [...this.#attempts.values()].reverse()
  }
}

/** Maps keep the order in which entries came: the first is the oldest. */
function trim (map: Map<string, unknown>): void {
  const [oldest] = map.keys()
  if (map.size > MOST) map.delete(String(oldest))
}
