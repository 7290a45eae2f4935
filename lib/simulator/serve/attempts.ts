import { randomBytes } from 'node:crypto'
import { type Attempt } from './attempt.ts'

const MOST = 50

type Session = Map<string, Attempt>

/**
 * The sign-ins that each browser began. A browser is known by its session cookie and finds no sign-in but its own.
 * The oldest sessions, and the oldest sign-ins of a session, are dropped.
 */
export class Attempts {
  readonly #sessions = new Map<string, Session>()

  /**
   * Adds an attempt to a browser's session.
   *
   * @returns the session identifier for the cookie; a new one where the given one is unknown
   */
  add (attempt: Attempt, cookie: string | undefined): string {
    const known = this.#sessions.get(String(cookie))
    const id = known === undefined ? randomBytes(32).toString('base64url') : String(cookie)
    const session = known ?? new Map<string, Attempt>()
    session.set(attempt.id, attempt)
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    dropOldest(session)
    dropOldest(this.#sessions)
    return id
  }

  /** The attempt with this identifier, if this browser began it. */
  find (cookie: string | undefined, id: string): Attempt | undefined {
    return this.#sessions.get(String(cookie))?.get(id)
  }

  /** The attempt that a browser comes back to: its own with this state, or else its latest. */
  returned (cookie: string | undefined, state: unknown): Attempt | undefined {
    const own = this.of(cookie)
    return own.find(({ flow }) => flow.state === state) ?? own[0]
  }

  /** The attempts of a browser, newest first. */
  of (cookie: string | undefined): Attempt[] {
    return [...this.#sessions.get(String(cookie))?.values() ?? []].reverse()
  }
}

/** A map keeps the order of insertion: the first key is the oldest. */
function dropOldest (map: Map<string, unknown>): void {
  const [oldest] = map.keys()
  if (map.size > MOST) map.delete(String(oldest))
}
