import { hash, timingSafeEqual } from 'node:crypto'
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
  /** One for each secret, unique to this client: `[clientId, secret]` as JSON. */
  readonly credentials: readonly string[]
  /** Secrets are compared by digests: `timingSafeEqual` needs buffers of equal length. */
  readonly #digests: Buffer[]
  readonly #callback: string

  constructor ({ loginUrl, clientId, clientSecret, redirectUri, level = 'partner' }: Portal) {
    this.information = Object.freeze({ loginUrl, clientId, redirectUri, level })
    this.binding = JSON.stringify([clientId, redirectUri, loginUrl, level])
    const secrets = [clientSecret].flat()
    this.#digests = secrets.map(digest)
    this.credentials = secrets.map((secret) => JSON.stringify([clientId, secret]))
    this.#callback = redirectUri + (redirectUri.includes('?') ? '&' : '?')
  }

  /** The redirect_uri, its own query kept, with encoded parameters and the state added (RFC 6749 section 4.1.2). */
  callback (parameters: string, state: string | undefined): string {
    return this.#callback + parameters + (state === undefined ? '' : `&state=${state}`)
  }

  /** Index of the secret that matches, or -1. Every secret is compared, in constant time. */
  secretIndex (given: string): number {
    const presented = digest(given)
    return this.#digests.map((known) => timingSafeEqual(known, presented)).indexOf(true)
  }
}

function digest (secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
