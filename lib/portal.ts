import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { assertOption, isVisibleAscii } from './options/assert.ts'
import { OAuthError } from './errors.ts'
import { checkPortal, type Portal, type PortalLevel } from './options/portal.ts'

/** What a hook is told of the portal: everything but its secret. */
export interface PortalInformation {
  readonly loginUrl: string
  readonly clientId: string
  readonly redirectUri: string
  readonly level: PortalLevel
}

/** Finds the portal of a `client_id`. Null or undefined when there is none. */
export type PortalFinder = (clientId: string) => Portal | null | undefined | Promise<Portal | null | undefined>

/** A portal that has authenticated. */
export interface Authentication {
  portal: RegisteredPortal
  /** Which of the portal's secrets was used, counted from 0. */
  secretIndex: number
}

/** The portals of one registration of the plugin. Each method gives a promise only where `portal` is a function. */
export interface Portals {
  /** The portal that a request without a known `client_id` can only mean, where just one is registered. */
  readonly only: RegisteredPortal | undefined
  /** The portal of the `client_id`; undefined when it is unknown. */
  find (clientId: string): RegisteredPortal | undefined | Promise<RegisteredPortal | undefined>
  /** Client authentication in constant time (RFC 6749 section 2.3.1). Throws when it fails. */
  authenticate (clientId: string, clientSecret: string): Authentication | Promise<Authentication>
}

/** A portal whose values were checked. */
export class RegisteredPortal {
  readonly information: PortalInformation
  /** What a code is bound to: everything but the secret, which may be rotating. */
  readonly binding: string
  readonly #digests: Buffer[]
  readonly #callback: string

  constructor ({ loginUrl, clientId, clientSecret, redirectUri, level = 'partner' }: Portal) {
    this.information = Object.freeze({ loginUrl, clientId, redirectUri, level })
    this.binding = JSON.stringify([clientId, redirectUri, loginUrl, level])
    this.#digests = [clientSecret].flat().map(digest)
    // Only the first question mark starts the query; a later one is part of a name or value.
    const separator = !redirectUri.includes('?') ? '?' : /^[^?]*\?$|&$/.test(redirectUri) ? '' : '&'
    this.#callback = redirectUri + separator
  }

  get clientId (): string {
    return this.information.clientId
  }

  get redirectUri (): string {
    return this.information.redirectUri
  }

  get secretCount (): number {
    return this.#digests.length
  }

  /** The redirect_uri, its own query kept, with encoded parameters and the state added (RFC 6749 section 4.1.2). */
  callback (parameters: string, state: string | undefined): string {
    return this.#callback + parameters + (state === undefined ? '' : `&state=${state}`)
  }

  /** Index of the secret that matches, or -1. Makes `comparisons` comparisons, whichever of them match. */
  matchingSecret (secret: string, comparisons: number): number {
    const given = digest(secret)
    const padding = Array<Buffer>(Math.max(comparisons - this.#digests.length, 0)).fill(NO_SECRET)
    return [...this.#digests, ...padding].map((known) => timingSafeEqual(known, given)).indexOf(true)
  }
}

/** Secrets are compared by their digests: `timingSafeEqual` needs buffers of equal length. */
function digest (secret: string): Buffer {
  return hash('sha512', secret, 'buffer')
}

// Compared where a portal has fewer secrets than others. Random: no secret has this digest.
const NO_SECRET = digest(randomBytes(32).toString('base64'))

/** Compared with where the client is unknown, so that the answer takes as long as for a wrong secret. */
const STAND_IN: Portal = {
  loginUrl: 'https://portal.example/external-oauth/stand-in',
  clientId: 'stand-in',
  clientSecret: randomBytes(32).toString('base64url'),
  redirectUri: 'https://portal.example/oauth/callback'
}

/** The outcome of all comparisons of one authentication. */
function authenticated (portal: RegisteredPortal | undefined, secretIndex: number): Authentication {
  if (portal === undefined) throw new OAuthError('client_unknown')
  if (secretIndex === -1) throw new OAuthError('client_secret_wrong', { clientId: portal.clientId })
  return { portal, secretIndex }
}

/** Portals that are known at start. */
export class ListedPortals implements Portals {
  readonly only: RegisteredPortal | undefined
  readonly #byClientId: Map<string, RegisteredPortal>
  readonly #comparisons: number
  readonly #standIn = new RegisteredPortal(STAND_IN)

  constructor (portals: Portal[]) {
    const all = portals.map((portal) => new RegisteredPortal(portal))
    this.only = all.length === 1 ? all[0] : undefined
    this.#byClientId = new Map(all.map((portal) => [portal.clientId, portal]))
    this.#comparisons = Math.max(...all.map((portal) => portal.secretCount))
  }

  find (clientId: string): RegisteredPortal | undefined {
    return this.#byClientId.get(clientId)
  }

  authenticate (clientId: string, clientSecret: string): Authentication {
    const portal = this.find(clientId)
    return authenticated(portal, (portal ?? this.#standIn).matchingSecret(clientSecret, this.#comparisons))
  }
}

// The secrets of portals not asked for are unknown. A portal has one secret, or two or three while they are rotated.
const COMPARISONS = 4

/** Portals that a function of the host's finds, at every request anew. */
export class FoundPortals implements Portals {
  readonly only = undefined
  readonly #find: PortalFinder
  readonly #timeout: number

  /** `timeout` is the number of milliseconds that the function may take. */
  constructor (find: PortalFinder, timeout: number) {
    this.#find = find
    this.#timeout = timeout
  }

  async find (clientId: string): Promise<RegisteredPortal | undefined> {
    const portal = await this.#checked(clientId)
    return portal === undefined ? undefined : new RegisteredPortal(portal)
  }

  async authenticate (clientId: string, clientSecret: string): Promise<Authentication> {
    const portal = await this.#checked(clientId)
    // An unknown client costs the same checks, digests and comparisons as a known one.
    const registered = new RegisteredPortal(portal ?? checkPortal(STAND_IN, 'portal()'))
    const secretIndex = registered.matchingSecret(clientSecret, COMPARISONS)
    return authenticated(portal && registered, secretIndex)
  }

  async #checked (clientId: string): Promise<Portal | undefined> {
    if (!isClientId(clientId)) return undefined
    const given = await this.#ask(clientId)
    if (given === null || given === undefined) return undefined
    try {
      const portal = checkPortal(given, 'portal()')
      assertOption(portal.clientId === clientId, 'portal().clientId', 'the client_id that was asked for', 'another one')
      return portal
    } catch (cause) {
      throw new OAuthError('portal_failed', { cause, clientId })
    }
  }

  /** Calls the function. A client_id that may be made up is not repeated in the log. */
  async #ask (clientId: string): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<never>((_resolve, reject) => {
      // After a stall of the event loop timers run first: one turn is left for an answer that has arrived meanwhile.
      timer = setTimeout(() => setImmediate(() => reject(new OAuthError('portal_timeout'))), this.#timeout)
    })
    const found = Promise.resolve(clientId).then(this.#find)
      .catch((cause) => { throw new OAuthError('portal_failed', { cause }) })
    return await Promise.race([found, expired]).finally(() => clearTimeout(timer))
  }
}

/** What a function of the host's is asked for; nothing else reaches it. */
function isClientId (value: string): boolean {
  return value.length <= 255 && isVisibleAscii(value)
}
