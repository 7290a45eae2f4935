import { decodeGrant, encodeGrant, type Grant } from './grant.ts'
import { address, isSecret, open, randomSecret, seal, sealingKey } from './sealing.ts'
import { type TimedStore } from '../stores/store.ts'

// A revocation outlives the token, and whatever request may be about to issue it, by this many seconds.
const MARGIN = 60

const LOCATOR_LENGTH = 20

/**
 * Issues, redeems and revokes access tokens (spec section 2.2).
 *
 * A token is a locator and a secret, one after the other. The locator says where the token is stored and follows from
 * the code, so that a replay of the code can revoke the token without knowing it. The secret is random and opens what is
 * stored, so that whoever has seen the code still cannot make the token.
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

  /** A new token for what the code stood for; null when the code has been replayed meanwhile. */
  async issue (locator: string, grant: Grant, deadline: number): Promise<string | null> {
    const secret = randomSecret()
    const sealed = seal(this.#sealingKey(secret), encodeGrant(grant))
    const isStored = await this.#store.put(this.#storageKey(locator), sealed, this.#lifetime, deadline)
    return isStored ? locator + secret : null
  }

  /** What the token stands for; null when it is unknown, used, expired or revoked. It is used up by this. */
  async redeem (token: string, deadline: number): Promise<Grant | null> {
    const sealed = await this.#store.take(this.#storageKey(token.slice(0, LOCATOR_LENGTH)), deadline)
    const text = sealed === null ? null : open(this.#sealingKey(token.slice(LOCATOR_LENGTH)), sealed)
    return text === null ? null : decodeGrant(text)
  }

  /** Kills the token at the locator, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD revoke). True when it was alive. */
  async revoke (locator: string, deadline: number): Promise<boolean> {
    return await this.#store.revoke(this.#storageKey(locator), this.#lifetime + MARGIN, deadline)
  }

  #storageKey (locator: string): string {
    return address(`access_token ${this.#scope} ${locator}`)
  }

  #sealingKey (secret: string): Buffer {
    return sealingKey(secret, `access_token ${this.#scope}`)
  }
}

/** Whether the value has the form of a token. What has not is refused without asking the store. */
export function isAccessToken (value: string): boolean {
  return /^[\w-]{20}/.test(value) && isSecret(value.slice(LOCATOR_LENGTH))
}
