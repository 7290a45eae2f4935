import { createSecretKey, hash, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Portal, PortalLevel } from './portal.ts'

/** The portal that a user wants to enter, as `portalEligibility` gets it: all of it but its secrets. It is frozen. */
export interface PortalInformation {
  /** The URL at the portal where a sign-in starts. */
  readonly loginUrl: string
  /** The client identifier of the portal (RFC 6749 section 2.2). */
  readonly clientId: string
  /** The callback URL of the portal. */
  readonly redirectUri: string
  /** The OAuth level: which users may enter. */
  readonly level: PortalLevel
}

/** A portal whose values were checked. */
export class RegisteredPortal {
  readonly information: PortalInformation
  /** The client secrets, as keys. */
  readonly secrets: readonly KeyObject[]
  /** `timingSafeEqual` needs buffers of one length, which secrets do not have. */
  readonly #digests: readonly Buffer[]

  constructor ({ loginUrl, clientId, clientSecret, redirectUri, level = 'partner' }: Portal) {
    const secrets = [clientSecret].flat()
    this.information = Object.freeze({ loginUrl, clientId, redirectUri, level })
    this.secrets = secrets.map((secret) => createSecretKey(secret, 'utf8'))
    this.#digests = secrets.map(digest)
  }

  /**
   * The redirect_uri with parameters added; a query of its own is kept (RFC 6749 section 3.1.2).
   *
   * @param parameters - form-encoded
   * @param state - as it was encoded in the request; undefined when it had none
   */
  callback (parameters: string, state: string | undefined): string {
    const { redirectUri } = this.information
    const separator = redirectUri.includes('?') ? '&' : '?'
    return `${redirectUri}${separator}${parameters}${state === undefined ? '' : `&state=${state}`}`
  }

  /** The index of the secret that the text is, or -1. Texts are compared in constant time. */
  secretIndex (text: string): number {
    const presented = digest(text)
    return this.#digests.findIndex((known) => timingSafeEqual(known, presented))
  }
}

function digest (text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
