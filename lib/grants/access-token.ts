import { decodeGrant, encodeGrant, type Grant } from './grant.ts'
import { isSecret, open, randomSecret, seal, sealingKey, storageKey } from './sealing.ts'
import { type TimedStore } from '../stores/store.ts'

// Seconds by which a revocation outlives the token, and any request that is about to issue it.
const MARGIN = 60

const LOCATOR_LENGTH = 20

/**
 * Issues, redeems and revokes access tokens (spec section 2.2).
 *
 * A token is a locator followed by a secret. The locator determines the storage key and follows from the code: a
 * replay of the code can revoke the token without knowing it. The secret is random and decrypts the stored value, so
 * that a code alone does not yield the token.
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
  async issue (locator: string, grant: Grant, deadline: number): Promise<string | null> {
    const secret = randomSecret()
    const sealed = seal(this.#sealingKey(secret), encodeGrant(grant))
    const isStored = await this.#store.put(this.#storageKey(locator), sealed, this.#lifetime, deadline)
    return isStored ? locator + secret : null
  }

  /** Redeems the token, which works once. Returns null when it is unknown, used, expired or revoked. */
  async redeem (token: string, deadline: number): Promise<Grant | null> {
    const sealed = await this.#store.take(this.#storageKey(token.slice(0, LOCATOR_LENGTH)), deadline)
    const text = sealed === null ? null : open(this.#sealingKey(token.slice(LOCATOR_LENGTH)), sealed)
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
    return storageKey(`access_token ${this.#scope} ${locator}`)
  }

  #sealingKey (secret: string): Buffer {
    return sealingKey(secret, `access_token ${this.#scope}`)
  }
}

/** Whether the value has the form of a token. Anything else is rejected without a store call. */
export function isAccessToken (value: string): boolean {
  return /^[\w-]{20}/.test(value) && isSecret(value.slice(LOCATOR_LENGTH))
}
