import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { isVisibleAscii } from '../assert.ts'
import { OAuthError } from '../errors.ts'
import { Outage } from '../outage.ts'
import { within } from '../time-limit.ts'
import { checkPortal } from './portal.ts'
import type { Portal } from './portal.ts'
import { RegisteredPortal } from './registered-portal.ts'
import { whyUnreachable } from './unreachable.ts'

/** Finds the portal of a `client_id`. Null or undefined: the client is unknown. */
export type PortalFinder = (clientId: string) => Portal | null | undefined | Promise<Portal | null | undefined>

/** What a portal authenticates with. Each part has one spelling, or two: form-decoded and as it was sent. */
export interface Credentials {
  clientId: readonly string[]
  clientSecret: readonly string[]
}

/** A portal that has authenticated. */
export interface Authentication {
  portal: RegisteredPortal
  /** Which of the portal's secrets was used, counted from 0. */
  secretIndex: number
  /** Whether a part of the credentials matched by its second spelling alone. */
  isAsSent: boolean
}

/** Takes the place of an unknown portal in client authentication, so that the response takes as long. */
const NO_PORTAL: Portal = {
  loginUrl: 'https://portal.example/external-oauth/none',
  clientId: 'none',
  clientSecret: randomBytes(32).toString('base64url'),
  redirectUri: 'https://portal.example/oauth/callback'
}

type Awaitable<T> = T | Promise<T>

/** The portals of one registration of the plugin: a list, or found by a function of the host at each request. */
export class Portals {
  /** The portal, where exactly one is registered. */
  readonly only: RegisteredPortal | undefined
  readonly #find: (clientId: string) => Awaitable<RegisteredPortal | undefined>
  readonly #noPortal: () => RegisteredPortal

  /** A function may take `timeout` milliseconds. `warn` is called once with each warning; its outages go to `log`. */
  constructor (
    portal: Portal[] | PortalFinder, timeout: number, warn: (message: string) => void, log: FastifyBaseLogger
  ) {
    const warnOnce = onceEach(warn)
    if (typeof portal === 'function') {
      this.#find = foundBy(portal, timeout, warnOnce, new Outage('portal', log))
      // Checked and digested each time, as a portal that is found.
      this.#noPortal = () => new RegisteredPortal(checkPortal(NO_PORTAL, 'portal()'))
    } else {
      const all = portal.map((one) => registered(one, warnOnce))
      const byClientId = new Map(all.map((one) => [one.information.clientId, one]))
      this.only = all.length === 1 ? all[0] : undefined
      this.#find = (clientId) => byClientId.get(clientId)
      const noPortal = new RegisteredPortal(NO_PORTAL)
      this.#noPortal = () => noPortal
    }
  }

  /** The portal of the `client_id`; undefined when it is unknown. A promise only where `portal` is a function. */
  find (clientId: string): Awaitable<RegisteredPortal | undefined> {
    return this.#find(clientId)
  }

  /**
   * Client authentication in constant time (RFC 6749 section 2.3.1): every spelling of the secret is compared,
   * whichever matches, and whether or not the portal is known. Throws when it fails.
   */
  async authenticate ({ clientId, clientSecret }: Credentials): Promise<Authentication> {
    const portal = await this.#findAny(clientId)
    const compared = portal ?? this.#noPortal()
    const indexes = clientSecret.map((spelling) => compared.secretIndex(spelling))
    // An omitted argument would cost some 200 ns more than the context of the other refusal.
    if (portal === undefined) throw new OAuthError('client_unknown', {})
    const known = portal.information.clientId
    const matching = indexes.findIndex((index) => index !== -1)
    if (matching === -1) throw new OAuthError('client_secret_wrong', { clientId: known })
    const isAsSent = matching > 0 || clientId[0] !== known
    return { portal, secretIndex: indexes[matching] as number, isAsSent }
  }

  /**
   * The portal of the first spelling that is known. All are looked up at the same time: a second lookup takes no
   * longer. A lookup that fails counts only where no other has found the portal.
   */
  async #findAny (spellings: readonly string[]): Promise<RegisteredPortal | undefined> {
    const [clientId = '', ...others] = new Set(spellings)
    if (others.length === 0) return await this.#find(clientId)
    const lookups = [clientId, ...others].map(async (spelling) => await this.#find(spelling))
    const results = await Promise.allSettled(lookups)
    const index = results.findIndex((result) => result.status === 'fulfilled' && result.value !== undefined)
    // Where none has found it: undefined, or the error of a lookup that failed.
    return index === -1 ? (await Promise.all(lookups))[0] : await lookups[index]
  }
}

/** Finds portals by the host's function, at each request anew. */
function foundBy (find: PortalFinder, timeout: number, warn: (message: string) => void, outage: Outage) {
  /** Calls the function. A client_id that nobody registered is not repeated in the log. */
  async function ask (clientId: string): Promise<unknown> {
    let given
    try {
      given = await within(performance.now() + timeout, () => find(clientId), () => new OAuthError('portal_timeout'))
    } catch (error) {
      throw refusalOf(error)
    }
    outage.found()
    return given
  }

  /** A function that is late, or cannot reach what it asks, is an outage. Any other throw is its own fault. */
  function refusalOf (cause: unknown): OAuthError {
    const isLate = cause instanceof OAuthError
    const why = isLate ? LATE : whyUnreachable(cause)
    if (why === undefined) return new OAuthError('portal_failed', { cause })
    outage.lost(why, 'cause').refused++
    return isLate ? cause : new OAuthError('portal_unavailable', { cause })
  }

  return async (clientId: string): Promise<RegisteredPortal | undefined> => {
    const given = isClientId(clientId) ? await ask(clientId) : undefined
    if (given === null || given === undefined) return undefined
    const portal = registered(checked(given), warn)
    if (portal.information.clientId === clientId) return portal
    warn(OTHER_PORTAL)
    return undefined
  }
}

const LATE = 'The `portal` function did not return within `storeTimeout`'

function registered (portal: Portal, warn: (message: string) => void): RegisteredPortal {
  if ([portal.clientSecret].flat().some(({ length }) => length < STRONG_LENGTH)) warn(SHORT_SECRET)
  return new RegisteredPortal(portal)
}

/** Characters of base64url that 128 random bits need (RFC 6749 section 10.10). */
const STRONG_LENGTH = 22

const SHORT_SECRET = `partner-sso: a clientSecret has less than ${STRONG_LENGTH} characters. It is a key: with a ` +
  'token, short secrets can be guessed offline. Use 22 random characters or more.'

const OTHER_PORTAL = 'partner-sso: the portal function returned a portal of another clientId than it was called ' +
  'with. It must return null for a client_id that it does not know. Such requests are refused.'

/** Passes each message on once. */
function onceEach (warn: (message: string) => void): (message: string) => void {
  const warned = new Set<string>()
  return (message) => {
    if (!warned.has(message)) warn(message)
    warned.add(message)
  }
}

function checked (given: unknown): Portal {
  try {
    return checkPortal(given, 'portal()')
  } catch (cause) {
    throw new OAuthError('portal_failed', { cause })
  }
}

/** What the host's function is called with; nothing else reaches it. */
function isClientId (value: string): boolean {
  return value.length <= 255 && isVisibleAscii(value)
}
