import { randomBytes } from 'node:crypto'
import { type Attempt } from './attempt.ts'

const MOST = 50

/** The latest attempts, and which of them each browser session began (spec §1, step 3: on the server only). */
export class Attempts {
  readonly #attempts = new Map<string, Attempt>()
  readonly #sessions = new Map<string, Map<string, Attempt>>()

  /** Keeps an attempt of a browser session, beside those of its other tabs; returns the session's identifier, a new one where there is none. */
  keep (attempt: Attempt, known: string | undefined): string {
    const [session, own] = this.#session(known)
    this.#attempts.set(attempt.id, attempt)
    own.set(attempt.flow.state, attempt)
    for (const map of [this.#attempts, this.#sessions, own]) trim(map)
    return session
  }

  find (id: string): Attempt | undefined {
    return this.#attempts.get(id)
  }

  /** The attempt that a browser comes back to: the one of its session with this state, or else the latest. */
  ofSession (session: string | undefined, state: unknown): Attempt | undefined {
    const own = this.#sessions.get(String(session))
    return own?.get(String(state)) ?? [...own?.values() ?? []].at(-1)
  }

  /** Newest first. */
  latest (): Attempt[] {
    return [...this.#attempts.values()].reverse()
  }

  #session (known: string | undefined): [string, Map<string, Attempt>] {
    const kept = this.#sessions.get(String(known))
    if (kept !== undefined) return [String(known), kept]
    const session = randomBytes(32).toString('base64url')
    const own = new Map<string, Attempt>()
    this.#sessions.set(session, own)
    return [session, own]
  }
}

/** Maps keep the order in which entries came: the first is the oldest. */
function trim (map: Map<string, unknown>): void {
  const [oldest] = map.keys()
  if (map.size > MOST) map.delete(String(oldest))
}
