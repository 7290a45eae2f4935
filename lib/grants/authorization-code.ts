import { OAuthError } from '../errors.ts'
import { decodeGrant, encodeGrant, type Grant, type SealedGrant } from './grant.ts'
import { type RegisteredPortal } from '../portal.ts'
import { derive, type Derived, open, randomSecret, seal } from './sealing.ts'
import { type TimedStore } from '../stores/store.ts'

/** At least as many as the hash yields that keys are derived with. A multiple of three has only one spelling. */
const CODE_BYTES = 66
const CODE = /^[\w-]{88}$/

/** What a code stood for. */
export interface Redeemed extends SealedGrant {
  grant: Grant
}

/** The result of redeeming a code. */
export interface Redemption {
  /** Null when the code is unknown, used, expired or another portal's. */
  redeemed: Redeemed | null
  /** Determines where the token of this code is stored, if one is issued. */
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

  /** Issues a code that is bound to the portal. */
  async issue (portal: RegisteredPortal, grant: Grant, deadline: number): Promise<string> {
    const code = randomSecret(CODE_BYTES)
    const { storageKey, sealingKey } = this.#derive(code, portal)
    const stored = await this.#store.put(storageKey, seal(sealingKey, encodeGrant(grant)), this.#lifetime, deadline)
    if (!stored) {
      throw new OAuthError('internal_error', { cause: 'The store says that it holds a key that was never used' })
    }
    return code
  }

  /** Redeems the code, which works once. */
  async redeem (code: string, portal: RegisteredPortal, deadline: number): Promise<Redemption> {
    const { storageKey, sealingKey, locator } = this.#derive(code, portal)
    const sealed = await this.#store.take(storageKey, deadline)
    const text = sealed === null ? null : open(sealingKey, sealed)
    if (sealed === null || text === null) return { redeemed: null, locator }
    return { redeemed: { grant: decodeGrant(text), locator, sealingKey, sealed }, locator }
  }

  #derive (code: string, portal: RegisteredPortal): Derived {
    return derive(code, `authorization_code ${portal.binding} ${this.#scope}`)
  }
}

/** Whether the value has the form of a code. Anything else is rejected without a store call. */
export function isAuthorizationCode (value: string): boolean {
  return CODE.test(value)
}
