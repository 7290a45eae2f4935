import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { OAuthError } from './errors.ts'

/** OAuth level of the integration, set at the portal (spec section 2.3): which users the service may supply. */
export type PortalLevel = 'partner' | 'client'

/** One portal environment, with the four values of spec section 1.5. */
export interface Portal {
  /** Portal URL where a sign-in starts. The error page links to it; link to it from your own pages. */
  loginUrl: string
  /** The portal's OAuth client identifier. Unique among the portals of one registration. */
  clientId: string
  /** The portal's OAuth client secret. An array while a secret is being rotated: each one is accepted. */
  clientSecret: string | string[]
  /**
   * The portal's callback URL: absolute, ASCII, https (http for loopback hosts only), with no fragment, no user
   * information and no `code`, `state` or `error` parameter. Compared character by character.
   */
  redirectUri: string
  /**
   * OAuth level set at the portal: `partner` supplies partner and client users, `client` client users only.
   * @default 'partner'
   */
  level?: PortalLevel
}

/** What a hook is told of the portal: everything but its secret. */
export type PortalInformation = Readonly<Required<Omit<Portal, 'clientSecret'>>>

// Secrets are compared by their digests: of equal length, as a comparison in constant time needs it.
const digest = (secret: string): Buffer => hash('sha512', secret, 'buffer')

/** A portal that is registered. */
export class RegisteredPortal {
  readonly information: PortalInformation
  readonly digests: Buffer[]
  /** What codes and tokens are bound to. */
  readonly binding: string
  readonly #callback: string

  constructor ({ clientSecret, level = 'partner', ...portal }: Portal) {
    this.information = Object.freeze({ ...portal, level })
    this.digests = [clientSecret].flat().map(digest)
    const { clientId, redirectUri, loginUrl } = this.information
    this.binding = JSON.stringify([clientId, redirectUri, loginUrl, level])
    // Only the first question mark begins the query; a later one belongs to a name or value.
    const separator = !redirectUri.includes('?') ? '?' : /^[^?]*\?$|&$/.test(redirectUri) ? '' : '&'
    this.#callback = redirectUri + separator
  }

  get clientId (): string {
    return this.information.clientId
  }

  get redirectUri (): string {
    return this.information.redirectUri
  }

  /** The redirect_uri, its own query kept, with encoded parameters and the state added (RFC 6749 section 4.1.2). */
  callback (parameters: string, state: string | undefined): string {
    return this.#callback + parameters + (state === undefined ? '' : `&state=${state}`)
  }
}

/** The portals of one registration of the plugin. */
export class Portals {
  readonly all: readonly RegisteredPortal[]
  readonly only: RegisteredPortal | undefined
  readonly #byClientId: Map<string, RegisteredPortal>
  readonly #mostSecrets: number
  // Compared where there is no portal, so that an unknown client takes as long as a wrong secret.
  readonly #nobody = digest(randomBytes(32).toString('base64'))

  constructor (portals: Portal[]) {
    this.all = portals.map((portal) => new RegisteredPortal(portal))
    this.only = portals.length === 1 ? this.all[0] : undefined
    this.#byClientId = new Map(this.all.map((portal) => [portal.clientId, portal]))
    this.#mostSecrets = Math.max(...this.all.map((portal) => portal.digests.length))
  }

  find (clientId: string): RegisteredPortal | undefined {
    return this.#byClientId.get(clientId)
  }

  /** Client authentication (RFC 6749 section 2.3.1), in constant time. */
  authenticate (clientId: string, clientSecret: string): { portal: RegisteredPortal, secretIndex: number } {
    const portal = this.find(clientId)
    const given = digest(clientSecret)
    let matches = 0
    let secretIndex = 0
    for (let index = 0; index < this.#mostSecrets; index++) {
      const match = Number(timingSafeEqual(portal?.digests[index] ?? this.#nobody, given))
      matches |= match
      secretIndex += match * index
    }
    if (portal === undefined) throw new OAuthError('client_unknown')
    if (matches === 0) throw new OAuthError('client_secret_wrong', { clientId })
    return { portal, secretIndex }
  }
}
