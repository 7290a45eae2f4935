import type { KeyObject } from 'node:crypto'
import { isVisibleAscii } from '../assert.ts'
import { OAuthError } from '../errors.ts'
import { within } from '../time-limit.ts'
import { checkPortal } from './portal.ts'
import type { Portal } from './portal.ts'
import { RegisteredPortal } from './registered-portal.ts'

/**
 * The type of the option `portal` where it is a function: it finds the portal of a `client_id` at each request. It may
 * take `storeTimeout`; after that the request is refused with `temporarily_unavailable`. When it throws or returns a
 * portal with a value that it must not have, the request is refused with `server_error`, and the log says why.
 *
 * @param clientId - 1 to 255 visible ASCII characters
 * @returns the portal, whose `clientId` must be the one asked for; null or undefined for an unknown client
 */
export type PortalFinder = (clientId: string) => Portal | null | undefined | Promise<Portal | null | undefined>

/** What a portal authenticates with. Each part has one reading, or two: form-decoded, and as it was sent. */
export interface Credentials {
  clientId: readonly string[]
  clientSecret: readonly string[]
}

/** A portal that has authenticated. */
export interface Authentication {
  portal: RegisteredPortal
  /** The secret that the portal used. */
  secret: KeyObject
  /** Which of the portal's secrets that is, counted from 0. */
  secretIndex: number
}

/** The portals of one registration of the plugin. */
export interface Portals {
  /**
   * The portal of a `client_id`. Where there are several readings of it, that of the first one which is known.
   *
   * @returns undefined when it is unknown
   * @throws OAuthError `portal_failed` or `portal_timeout` where the host's function fails
   */
  find (...readings: readonly string[]): Promise<RegisteredPortal | undefined>
  /** The portal, where exactly one is registered. */
  readonly only: RegisteredPortal | undefined
}

/**
 * The portals of the option `portal`.
 *
 * @param timeout - milliseconds that a function of the host may take
 * @param warn - may be called again with the same warning
 */
export function portalsOf (
  portal: Portal[] | PortalFinder, timeout: number, warn: (message: string) => void
): Portals {
  return typeof portal === 'function' ? new FoundPortals(portal, timeout, warn) : new ListedPortals(portal, warn)
}

class ListedPortals implements Portals {
  readonly only: RegisteredPortal | undefined
  readonly #portals: Map<string, RegisteredPortal>

  constructor (portals: Portal[], warn: (message: string) => void) {
    const registered = portals.map((portal) => register(portal, warn))
    this.#portals = new Map(registered.map((portal) => [portal.information.clientId, portal]))
    this.only = registered.length === 1 ? registered[0] : undefined
  }

  async find (...readings: readonly string[]): Promise<RegisteredPortal | undefined> {
    const known = readings.find((clientId) => this.#portals.has(clientId))
    return known === undefined ? undefined : this.#portals.get(known)
  }
}

/** Portals that the host's function finds, at each request anew. A client_id that nobody registered is never logged. */
class FoundPortals implements Portals {
  readonly only = undefined
  readonly #finder: PortalFinder
  readonly #timeout: number
  readonly #warn: (message: string) => void

  constructor (finder: PortalFinder, timeout: number, warn: (message: string) => void) {
    this.#finder = finder
    this.#timeout = timeout
    this.#warn = warn
  }

  async find (...readings: readonly string[]): Promise<RegisteredPortal | undefined> {
    const deadline = performance.now() + this.#timeout
    for (const clientId of new Set(readings)) {
      const found = isClientId(clientId) ? await this.#ask(clientId, deadline) : undefined
      if (found?.clientId === clientId) return register(found, this.#warn)
      if (found !== undefined) this.#warn(OTHER_PORTAL)
    }
    return undefined
  }

  async #ask (clientId: string, deadline: number): Promise<Portal | undefined> {
    try {
      const given = await within(deadline, () => this.#finder(clientId), () => new OAuthError('portal_timeout'))
      return given === null || given === undefined ? undefined : checkPortal(given, 'portal()')
    } catch (cause) {
      throw cause instanceof OAuthError ? cause : new OAuthError('portal_failed', { cause })
    }
  }
}

/**
 * Client authentication (RFC 6749 section 2.3.1). Each reading of the secret is compared, also after one has matched.
 *
 * @throws OAuthError when the portal is unknown, or the secret is not one of its secrets
 */
export async function authenticate (
  portals: Portals, { clientId, clientSecret }: Credentials
): Promise<Authentication> {
  const portal = await portals.find(...clientId)
  if (portal === undefined) throw new OAuthError('client_unknown')
  const indexes = clientSecret.map((reading) => portal.secretIndex(reading))
  const secretIndex = indexes.find((index) => index !== -1)
  if (secretIndex === undefined) throw new OAuthError('client_secret_wrong', { clientId: portal.information.clientId })
  return { portal, secretIndex, secret: portal.secrets[secretIndex] as KeyObject }
}

function register (portal: Portal, warn: (message: string) => void): RegisteredPortal {
  if ([portal.clientSecret].flat().some(({ length }) => length < STRONG_LENGTH)) warn(SHORT_SECRET)
  return new RegisteredPortal(portal)
}

/** Characters of base64url that 128 random bits need (RFC 6749 section 10.10). */
const STRONG_LENGTH = 22

const SHORT_SECRET = `partner-sso: a clientSecret has less than ${STRONG_LENGTH} characters. It is a key: whoever ` +
  'has a token can guess a short secret offline. Use 22 random characters or more.'

const OTHER_PORTAL = 'partner-sso: the portal function returned a portal of another clientId than it was called ' +
  'with. It must return null for a client_id that it does not know. Such requests are refused.'

/** What the host's function is called with; nothing else reaches it. */
function isClientId (value: string): boolean {
  return value.length <= 255 && isVisibleAscii(value)
}
