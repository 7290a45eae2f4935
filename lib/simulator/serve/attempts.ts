import { randomBytes } from 'node:crypto'
import type { Attempt } from './attempt.ts'

const MOST = 100

/**
 * The sign-ins of all browsers. A browser finds only its own. Beyond a hundred, the oldest that
 * never came back is dropped: requests alone do not push out a completed sign-in.
 */
export class Attempts {
  /** Oldest first. The session cookie identifies the browser that began an attempt. */
  readonly #entries: Array<{ attempt: Attempt, session: string }> = []

  /**
   * Adds an attempt to a browser's session.
   *
   * @returns the session identifier for the cookie; a new one where the given one is unknown
   */
  add (attempt: Attempt, cookie: string | undefined): string {
    const isKnown = this.of(cookie).length > 0
    const session = isKnown ? String(cookie) : randomBytes(32).toString('base64url')
    if (this.#entries.length === MOST) this.#drop()
    this.#entries.push({ attempt, session })
    return session
  }

  /** The attempt that a browser comes back to: its own with this state, or else its latest. */
  returned (cookie: string | undefined, state: unknown): Attempt | undefined {
    const own = this.of(cookie)
    return own.find(({ signIn }) => signIn.state === state) ?? own[0]
  }

  /** The attempts of a browser, newest first. */
  of (cookie: string | undefined): Attempt[] {
    return this.#entries.filter(({ session }) => session === cookie).map(({ attempt }) => attempt)
      .reverse()
  }

  #drop (): void {
    const neverBack = this.#entries.findIndex(({ attempt }) => !attempt.cameBack)
    this.#entries.splice(Math.max(neverBack, 0), 1)
  }
}
