import { OAuthError } from '../errors.ts'
import { decodeGrant, encodeGrant, type Grant } from './grant.ts'
import { type RegisteredPortal } from '../portal.ts'
import { derive, type Derived, isSecret, open, randomSecret, seal } from './sealing.ts'
import { type TimedStore } from '../stores/store.ts'

/** What comes of redeeming a code. */
export interface Redemption {
  /** What the code stands for; null when it is unknown, used, expired or another portal's. */
  grant: Grant | null
  /** Where the token is, or would be, that this code yields. */
  locator: string
}

/** Issues and redeems authorization codes (spec section 2.1, RFC 6749 section 4.1.2). */
export class AuthorizationCodes {
  readonly #store: TimedStore
  readonly #lifetime: number
  readonly #scope: string

  /** `scope` keeps the codes of different registrations apart where they share one store. */
  constructor (store: TimedStore, lifetime: number, scope: string) {
    this.#store = store
    this.#lifetime = lifetime
    this.#scope = scope
  }

  /** A new code, bound to the portal and its redirect_uri. */
  async issue (portal: RegisteredPortal, grant: Grant, deadline: number): Promise<string> {
    const code = randomSecret()
    const { storageKey, sealingKey } = this.#derive(code, portal)
    const stored = await this.#store.put(storageKey, seal(sealingKey, encodeGrant(grant)), this.#lifetime, deadline)
    if (!stored) throw new OAuthError('internal_error', { cause: 'The store says that it holds a key that was never used' })
    return code
  }

  /** Redeems the code, which is used up by this. */
  async redeem (code: string, portal: RegisteredPortal, deadline: number): Promise<Redemption> {
    const { storageKey, sealingKey, successor } = this.#derive(code, portal)
    const sealed = await this.#store.take(storageKey, deadline)
    const text = sealed === null ? null : open(sealingKey, sealed)
    return { grant: text === null ? null : decodeGrant(text), locator: successor }
  }

  #derive (code: string, portal: RegisteredPortal): Derived {
    return derive(code, `authorization_code ${portal.binding} ${this.#scope}`)
  }
}

/** Whether the value has the form of a code. What has not is refused without asking the store. */
export const isAuthorizationCode = isSecret
