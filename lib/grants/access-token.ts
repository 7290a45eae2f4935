import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant } from './grant.ts'
import type { Grant, SealedGrant } from './grant.ts'
import { NAME_LENGTH, SEALING_KEY_LENGTH } from './keys.ts'
import type { GrantKeys } from './keys.ts'
import { open } from './sealing.ts'
import { StoredValue } from './stored-value.ts'

// Seconds by which a revocation outlives the token, and any request that is about to issue it.
const MARGIN = 60

// Locator and sealing key.
const TOKEN = new RegExp(`^[\\w-]{${NAME_LENGTH + SEALING_KEY_LENGTH}}$`)

/** What a token represented. Not to be trusted before `wasIssuedFor`. */
export interface RedeemedToken {
  grant: Grant
  /** Whether a process that has one of the portal's client secrets issued the token. */
  wasIssuedFor (portal: RegisteredPortal): boolean
}

/**
 * Issues, redeems and revokes access tokens (spec section 2.2).
 *
 * A token is a locator and a sealing key. The locator is derived from the code and determines the storage key: a replay
 * of the code can revoke the token without knowing it. The sealing key is that of the code, whose sealed grant is
 * handed on as it is; it cannot be derived without the client secret.
 */
export class AccessTokens {
  readonly #store: TimedStore
  readonly #keys: GrantKeys
  readonly #lifetime: number

  /** `lifetime` in seconds. */
  constructor (store: TimedStore, keys: GrantKeys, lifetime: number) {
    this.#store = store
    this.#keys = keys
    this.#lifetime = lifetime
  }

  /** Issues the token for the grant of a code. Returns null when the code was replayed in the meantime. */
  async issue (
    { locator, sealingKey, sealed }: SealedGrant, portal: RegisteredPortal, deadline: number
  ): Promise<string | null> {
    const token = locator + sealingKey
    const value = StoredValue.encode(sealed, (text) => this.#keys.fingerprints('token', token, text, portal))
    return await this.#store.put(this.#keys.ofToken(locator), value, this.#lifetime, deadline) ? token : null
  }

  /** Redeems the single-use token. Returns null when it is unknown, used, expired or revoked. */
  async redeem (token: string, deadline: number): Promise<RedeemedToken | null> {
    const storageKey = this.#keys.ofToken(token.slice(0, NAME_LENGTH))
    const value = StoredValue.decode(await this.#store.take(storageKey, deadline), this.#lifetime)
    const text = value && open(token.slice(NAME_LENGTH), value.text)
    const grant = text === null ? null : decodeGrant(text)
    if (value === null || grant === null) return null
    const wasIssuedFor = (portal: RegisteredPortal): boolean =>
      value.isProvenBy((text) => this.#keys.fingerprints('token', token, text, portal))
    return { grant, wasIssuedFor }
  }

  /**
   * Revokes the token of a code, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD revoke). Returns true
   * when the token was alive.
   */
  async revoke (code: string, portal: RegisteredPortal, deadline: number): Promise<boolean> {
    const { locator } = this.#keys.ofCode(code, portal)
    return await this.#store.revoke(this.#keys.ofToken(locator), this.#lifetime + MARGIN, deadline)
  }
}

/** Whether the value has the form of a token. Anything else is rejected without a store call. */
export function isAccessToken (value: string): boolean {
  return TOKEN.test(value)
}
