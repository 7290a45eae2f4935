import { decodeGrant, encodeGrant, type Grant } from './grant.ts'
import { type RegisteredPortal } from './portal.ts'
import { deriveKeys, expand, isSecret, open, randomSecret, seal } from './sealing.ts'
import { type Store } from './store.ts'

// A revocation outlives the token, and whatever request may be about to issue it, by this many seconds.
const MARGIN = 60

/**
 * Issues, redeems and revokes access tokens (spec section 2.2).
 *
 * A token is two secrets, one after the other. The first, the locator, says where it is stored and follows from the
 * code, so that a replay of the code can revoke the token without knowing it. The second is random and opens what is
 * stored, so that whoever has seen the code still cannot make the token.
 */
export class AccessTokens {
  readonly #store: Store
  readonly #lifetime: number
  readonly #scope: string

  /** `scope` keeps the tokens of different registrations apart where they share one store. */
  constructor (store: Store, lifetime: number, scope: string) {
    this.#store = store
    this.#lifetime = lifetime
    this.#scope = scope
  }

  /** A new token for what the code stood for; null when the code has been replayed meanwhile. */
  async issue (code: string, portal: RegisteredPortal, grant: Grant): Promise<string | null> {
    const locator = this.#locator(code, portal)
    const opener = randomSecret()
    const sealed = seal(this.#sealingKey(opener), encodeGrant(grant))
    return await this.#store.put(this.#storageKey(locator), sealed, this.#lifetime) ? locator + opener : null
  }

  /** What the token stands for; null when it is unknown, used, expired or revoked. It is used up by this. */
  async redeem (token: string): Promise<Grant | null> {
    const sealed = await this.#store.take(this.#storageKey(token.slice(0, token.length / 2)))
    const text = sealed === null ? null : open(this.#sealingKey(token.slice(token.length / 2)), sealed)
    return text === null ? null : decodeGrant(text)
  }

  /** Kills the token that the code yielded, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD revoke). */
  async revoke (code: string, portal: RegisteredPortal): Promise<void> {
    await this.#store.revoke(this.#storageKey(this.#locator(code, portal)), this.#lifetime + MARGIN)
  }

  #locator (code: string, portal: RegisteredPortal): string {
    return expand(code, `access_token locator ${portal.binding} ${this.#scope}`).toString('base64url')
  }

  #storageKey (locator: string): string {
    return deriveKeys(locator, `access_token storage ${this.#scope}`).storageKey
  }

  #sealingKey (opener: string): Buffer {
    return deriveKeys(opener, `access_token sealing ${this.#scope}`).sealingKey
  }
}

/** Whether the value has the form of a token. What has not is refused without asking the store. */
export function isAccessToken (value: string): boolean {
  return value.length % 2 === 0 && isSecret(value.slice(0, value.length / 2)) && isSecret(value.slice(value.length / 2))
}
