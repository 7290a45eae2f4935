import { OAuthError } from './errors.ts'
import { decodeGrant, encodeGrant, type Grant } from './grant.ts'
import { type RegisteredPortal } from './portal.ts'
import { deriveKeys, isSecret, open, randomSecret, seal } from './sealing.ts'
import { type Store } from './store.ts'

/** Issues and redeems authorization codes (spec section 2.1, RFC 6749 section 4.1.2). */
export class AuthorizationCodes {
  readonly #store: Store
  readonly #lifetime: number
  readonly #scope: string

  /** `scope` keeps the codes of different registrations apart where they share one store. */
  constructor (store: Store, lifetime: number, scope: string) {
    this.#store = store
    this.#lifetime = lifetime
    this.#scope = scope
  }

  /** A new code, bound to the portal and its redirect_uri. */
  async issue (portal: RegisteredPortal, grant: Grant): Promise<string> {
    const code = randomSecret()
    const { storageKey, sealingKey } = this.#keys(code, portal)
    const stored = await this.#store.put(storageKey, seal(sealingKey, encodeGrant(grant)), this.#lifetime)
    if (!stored) throw new OAuthError('internal_error', { cause: 'The store says that it holds a key that was never used' })
    return code
  }

  /** What the code stands for; null when it is unknown, used, expired or another portal's. It is used up by this. */
  async redeem (code: string, portal: RegisteredPortal): Promise<Grant | null> {
    const { storageKey, sealingKey } = this.#keys(code, portal)
    const sealed = await this.#store.take(storageKey)
    const text = sealed === null ? null : open(sealingKey, sealed)
    return text === null ? null : decodeGrant(text)
  }

  #keys (code: string, portal: RegisteredPortal) {
    return deriveKeys(code, `authorization_code ${portal.binding} ${this.#scope}`)
  }
}

/** Whether the value has the form of a code. What has not is refused without asking the store. */
export const isAuthorizationCode = isSecret
