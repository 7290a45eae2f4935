import { hash, timingSafeEqual } from 'node:crypto'
import type { Portal, PortalLevel } from './portal.ts'

/** The portal as the hooks get it: everything but its secrets. */
export interface PortalInformation {
  readonly loginUrl: string
  readonly clientId: string
  readonly redirectUri: string
  readonly level: PortalLevel
}

export type RegisteredPortal = ReturnType<typeof registeredPortal>

/** A portal whose values were checked. */
export function registeredPortal ({ loginUrl, clientId, clientSecret, redirectUri, level = 'partner' }: Portal) {
  const secrets = [clientSecret].flat()
  // `timingSafeEqual` needs buffers of equal length.
  const digests = secrets.map(digest)
  const beforeQuery = redirectUri + (redirectUri.includes('?') ? '&' : '?')
  const information: PortalInformation = Object.freeze({ loginUrl, clientId, redirectUri, level })
  return {
    information,
    /** All values of the portal but its secrets, as JSON. */
    binding: JSON.stringify([clientId, redirectUri, loginUrl, level]),
    /** One for each secret, unique to this client: `[clientId, secret]` as JSON. */
    credentials: secrets.map((secret) => JSON.stringify([clientId, secret])),

    /** The redirect_uri, its own query kept, with encoded parameters and the state added (RFC 6749 section 4.1.2). */
    callback (parameters: string, state: string | undefined): string {
      return beforeQuery + parameters + (state === undefined ? '' : `&state=${state}`)
    },

    /** Index of the secret that matches, or -1. Compared in constant time. */
    secretIndex (given: string): number {
      const presented = digest(given)
      return digests.findIndex((known) => timingSafeEqual(known, presented))
    }
  }
}

function digest (secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
