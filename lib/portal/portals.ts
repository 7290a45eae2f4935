import { isVisibleAscii } from '../assert.ts'
import { OAuthError } from '../errors.ts'
import { within } from '../time-limit.ts'
import { checkPortal } from './portal.ts'
import type { Portal } from './portal.ts'
import { registeredPortal } from './registered-portal.ts'
import type { RegisteredPortal } from './registered-portal.ts'

/** Finds the portal of a `client_id`. Null or undefined: the client is unknown. */
export type PortalFinder = (clientId: string) => Portal | null | undefined | Promise<Portal | null | undefined>

/** What a portal authenticates with. Each part has one reading, or two: form-decoded and as it was sent. */
export interface Credentials {
  clientId: readonly string[]
  clientSecret: readonly string[]
}

/** A portal that has authenticated. */
export interface Authentication {
  portal: RegisteredPortal
  /** Which of the portal's secrets was used, counted from 0. */
  secretIndex: number
}

export type Portals = ReturnType<typeof portalsOf>

/**
 * The portals of one registration of the plugin: a list, or found by a function of the host at each request. It may
 * take `timeout` milliseconds. `warn` may be called again with the same warning.
 */
export function portalsOf (portal: Portal[] | PortalFinder, timeout: number, warn: (message: string) => void) {
  const all = typeof portal === 'function' ? [] : portal.map((one) => registered(one, warn))
  const byClientId = new Map(all.map((one) => [one.information.clientId, one]))
  /** The portal of the `client_id`; undefined when it is unknown. A promise only where `portal` is a function. */
  const find = typeof portal === 'function'
    ? foundBy(portal, timeout, warn)
    : (clientId: string) => byClientId.get(clientId)
  return {
    find,

    /** The portal, where exactly one is registered. */
    only: all.length === 1 ? all[0] : undefined,

    /** Client authentication (RFC 6749 section 2.3.1). Each reading of the secret is compared, whichever matches. */
    async authenticate ({ clientId, clientSecret }: Credentials): Promise<Authentication> {
      const portal = await findAny(clientId)
      if (portal === undefined) throw new OAuthError('client_unknown')
      const indexes = clientSecret.map((reading) => portal.secretIndex(reading))
      const secretIndex = indexes.find((index) => index !== -1)
      if (secretIndex !== undefined) return { portal, secretIndex }
      throw new OAuthError('client_secret_wrong', { clientId: portal.information.clientId })
    }
  }

  /** The portal of the first reading that is known. */
  async function findAny (readings: readonly string[]): Promise<RegisteredPortal | undefined> {
    for (const clientId of new Set(readings)) {
      const portal = await find(clientId)
      if (portal !== undefined) return portal
    }
    return undefined
  }
}

/** Finds portals by the host's function, at each request anew. A client_id that nobody registered is never logged. */
function foundBy (find: PortalFinder, timeout: number, warn: (message: string) => void) {
  return async (clientId: string) => {
    if (!isClientId(clientId)) return undefined
    try {
      const deadline = performance.now() + timeout
      const given = await within(deadline, () => find(clientId), () => new OAuthError('portal_timeout'))
      if (given === null || given === undefined) return undefined
      const portal = registered(checkPortal(given, 'portal()'), warn)
      if (portal.information.clientId === clientId) return portal
    } catch (cause) {
      throw cause instanceof OAuthError ? cause : new OAuthError('portal_failed', { cause })
    }
    warn(OTHER_PORTAL)
    return undefined
  }
}

function registered (portal: Portal, warn: (message: string) => void): RegisteredPortal {
  if ([portal.clientSecret].flat().some(({ length }) => length < STRONG_LENGTH)) warn(SHORT_SECRET)
  return registeredPortal(portal)
}

/** Characters of base64url that 128 random bits need (RFC 6749 section 10.10). */
const STRONG_LENGTH = 22

const SHORT_SECRET = `partner-sso: a clientSecret has less than ${STRONG_LENGTH} characters. It is a key: with a ` +
  'token, short secrets can be guessed offline. Use 22 random characters or more.'

const OTHER_PORTAL = 'partner-sso: the portal function returned a portal of another clientId than it was called ' +
  'with. It must return null for a client_id that it does not know. Such requests are refused.'

/** What the host's function is called with; nothing else reaches it. */
function isClientId (value: string): boolean {
  return value.length <= 255 && isVisibleAscii(value)
}
