import { OAuthError } from '../errors.ts'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant, encodeGrant } from './grant.ts'
import type { Grant, SealedGrant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { randomSecret } from './random-secret.ts'
import { openWithAny, sealForEach } from './sealing.ts'
import { StoredValue } from './stored-value.ts'

const CODE = /^[\w-]{44}$/

/** What a code represented. */
export interface RedeemedCode extends SealedGrant {
  grant: Grant
}

/** Issues and redeems authorization codes (spec section 2.1, RFC 6749 section 4.1.2). */
export class AuthorizationCodes {
  readonly #store: TimedStore
  readonly #keys: GrantKeys
  readonly #lifetime: number

  /** `lifetime` in seconds. */
  constructor (store: TimedStore, keys: GrantKeys, lifetime: number) {
    this.#store = store
    this.#keys = keys
    this.#lifetime = lifetime
  }

  /** Issues a code that is bound to the portal. */
  async issue (
    portal: RegisteredPortal, user: Pick<Grant, 'codeChallenge' | 'externalId' | 'record'>, deadline: number
  ): Promise<string> {
    const code = randomSecret()
    const { clientId, level } = portal.information
    const sealed = sealForEach(this.#keys.sealingKeys(code, portal), encodeGrant({ clientId, level, ...user }))
    const value = StoredValue.encode(sealed, (text) => this.#keys.fingerprints('code', code, text, portal))
    const { storageKey } = this.#keys.ofCode(code, portal)
    if (await this.#store.put(storageKey, value, this.#lifetime, deadline)) return code
    throw new OAuthError('internal_error', { cause: 'The store says that it holds a key that was never used' })
  }

  /** Redeems the single-use code. Returns null when it is unknown, used, expired or another portal's. */
  async redeem (code: string, portal: RegisteredPortal, deadline: number): Promise<RedeemedCode | null> {
    const { storageKey, locator } = this.#keys.ofCode(code, portal)
    const value = StoredValue.decode(await this.#store.take(storageKey, deadline), this.#lifetime)
    if (!value?.isProvenBy((text) => this.#keys.fingerprints('code', code, text, portal))) return null
    const opened = openWithAny(this.#keys.sealingKeys(code, portal), value.text, value.count)
    const grant = opened && decodeGrant(opened.text)
    return grant && { grant, locator, sealingKey: opened.sealingKey, sealed: opened.sealed }
  }
}

/** Whether the value has the form of a code. Anything else is rejected without a store call. */
export function isAuthorizationCode (value: string): boolean {
  return CODE.test(value)
}
