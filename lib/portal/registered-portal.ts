import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Portal, PortalLevel } from './portal.ts'

/** The portal as the hooks get it: everything but its secrets. */
export interface PortalInformation {
  readonly loginUrl: string
  readonly clientId: string
  readonly redirectUri: string
  readonly level: PortalLevel
}

/** A portal whose values were checked. */
export class RegisteredPortal {
  readonly information: PortalInformation
  /** All values of the portal but its secrets, as JSON. */
  readonly binding: string
  readonly #secrets: readonly string[]
  readonly #callback: string
  #credentials: readonly string[] | undefined
  #digests: Buffer[] | undefined

  constructor ({ loginUrl, clientId, clientSecret, redirectUri, level = 'partner' }: Portal) {
    this.information = Object.freeze({ loginUrl, clientId, redirectUri, level })
    this.#secrets = [clientSecret].flat()
    this.binding = JSON.stringify([clientId, redirectUri, loginUrl, level])
    // Only the first question mark starts the query; a later one is part of a name or value.
    const separator = !redirectUri.includes('?') ? '?' : /^[^?]*\?$|&$/.test(redirectUri) ? '' : '&'
    this.#callback = redirectUri + separator
  }

  /**
   * One for each secret, unique to this client: `[clientId, secret]` as JSON. Not made before it is needed: a wrong
   * secret of a portal with two secrets would take longer than an unknown client.
   */
  get credentials (): readonly string[] {
    const { clientId } = this.information
    this.#credentials ??= this.#secrets.map((secret) => JSON.stringify([clientId, secret]))
    return this.#credentials
  }

  /** The redirect_uri, its own query kept, with encoded parameters and the state added (RFC 6749 section 4.1.2). */
  callback (parameters: string, state: string | undefined): string {
    return this.#callback + parameters + (state === undefined ? '' : `&state=${state}`)
  }

  /**
   * Index of the secret that matches, or -1. Makes the same digests and comparisons for every portal with at most
   * `SLOTS` secrets.
   */
  secretIndex (secret: string): number {
    this.#digests ??= [...this.#secrets, ...NO_SECRETS].slice(0, Math.max(SLOTS, this.#secrets.length)).map(digest)
    const given = digest(secret)
    return this.#digests.map((known) => timingSafeEqual(known, given)).indexOf(true)
  }
}

// A portal has one secret, or two or three while they are rotated.
const SLOTS = 4

// Random values for the slots that a portal does not use: no secret matches them.
const NO_SECRETS = Array.from({ length: SLOTS }, () => randomBytes(32).toString('base64url'))

/** Secrets are compared by their digests: `timingSafeEqual` needs buffers of equal length. */
function digest (secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
