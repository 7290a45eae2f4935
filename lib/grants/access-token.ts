import { decodeGrant, type Grant, type SealedGrant } from './grant.ts'
import { fingerprint, NAME_LENGTH, open, randomSecret, SEALING_KEY_LENGTH } from './sealing.ts'
import { type TimedStore } from '../stores/store.ts'

// Seconds by which a revocation outlives the token, and any request that is about to issue it.
const MARGIN = 60

// 264 random bits: 44 characters.
const SECRET_BYTES = 33
// Locator, sealing key and secret.
const TOKEN = /^[\w-]{107}$/

/**
 * Issues, redeems and revokes access tokens (spec section 2.2).
 *
 * A token is a locator, a sealing key and a secret. The locator determines the storage key and follows from the code: a
 * replay of the code can revoke the token without knowing it. The sealing key is that of the code, whose sealed grant
 * is handed on as it is. The secret is random, so that a code does not yield its token: the store keeps a fingerprint
 * of the whole token beside the grant.
 */
export class AccessTokens {
  readonly #store: TimedStore
  readonly #lifetime: number
  readonly #scope: string

  /** `scope` keeps the tokens of different registrations apart where they share one store. */
  constructor (store: TimedStore, lifetime: number, scope: string) {
    this.#store = store
    this.#lifetime = lifetime
    this.#scope = scope
  }

  /** Issues a token for the grant of a code. Returns null when the code was replayed in the meantime. */
  async issue ({ locator, sealingKey, sealed }: SealedGrant, deadline: number): Promise<string | null> {
    const token = locator + sealingKey + randomSecret(SECRET_BYTES)
    const value = this.#fingerprint(token) + sealed
    return await this.#store.put(this.#storageKey(locator), value, this.#lifetime, deadline) ? token : null
  }

  /** Redeems the token, which works once. Returns null when it is unknown, used, expired or revoked. */
  async redeem (token: string, deadline: number): Promise<Grant | null> {
    const value = await this.#store.take(this.#storageKey(token.slice(0, NAME_LENGTH)), deadline)
    // Whoever makes up a secret has one try.
    if (value === null || !value.startsWith(this.#fingerprint(token))) return null
    const sealingKey = token.slice(NAME_LENGTH, NAME_LENGTH + SEALING_KEY_LENGTH)
    const text = open(sealingKey, value.slice(NAME_LENGTH))
    return text === null ? null : decodeGrant(text)
  }

  /**
   * Revokes the token at the locator, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD revoke). Returns
   * true when the token was alive.
   */
  async revoke (locator: string, deadline: number): Promise<boolean> {
    return await this.#store.revoke(this.#storageKey(locator), this.#lifetime + MARGIN, deadline)
  }

  #storageKey (locator: string): string {
    return fingerprint(`access_token ${this.#scope} ${locator}`)
  }

  #fingerprint (token: string): string {
    return fingerprint(`access_token ${this.#scope} ${token}`)
  }
}

/** Whether the value has the form of a token. Anything else is rejected without a store call. */
export function isAccessToken (value: string): boolean {
  return TOKEN.test(value)
}
