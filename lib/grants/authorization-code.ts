import { randomBytes } from 'node:crypto'
import { OAuthError } from '../errors.ts'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant, encodeGrant } from './grant.ts'
import type { Grant, SealedGrant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { open, seal } from './sealing.ts'

/** 264 bits. A multiple of 3 bytes has one base64url encoding. */
const CODE_BYTES = 33

const CODE = /^[\w-]{44}$/

/** A code of a portal. */
export interface AuthorizationCode {
  code: string
  portal: RegisteredPortal
  locator: string
  signInId: string
}

/** What a code represented. */
export interface RedeemedCode extends SealedGrant {
  grant: Grant
}

/** Issues and redeems authorization codes (RFC 6749 section 4.1.2). */
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

  /** Issues a code that is bound to the portal. Its grant can be opened with each of the portal's secrets. */
  async issue (portal: RegisteredPortal, grant: Grant, deadline: number): Promise<AuthorizationCode> {
    const code = this.#of(randomBytes(CODE_BYTES).toString('base64url'), portal)
    const sealed = seal(this.#keys.sealingKeys(code.locator, portal), encodeGrant(grant))
    const isStored = await this.#store.put(this.#keys.codeKey(code.code, portal), sealed, this.#lifetime, deadline)
    if (isStored) return code
    throw new OAuthError('internal_error', { cause: 'put returned false for a new key' })
  }

  /** A code that the portal sent. Returns null for a text that cannot be a code. */
  read (text: string, portal: RegisteredPortal): AuthorizationCode | null {
    return CODE.test(text) ? this.#of(text, portal) : null
  }

  /**
   * Redeems the single-use code. Returns null when it is unknown, used, expired or another portal's. `credential` is
   * the one with which the portal authenticated.
   */
  async redeem (
    { code, portal, locator }: AuthorizationCode, credential: string, deadline: number
  ): Promise<RedeemedCode | null> {
    const value = await this.#store.take(this.#keys.codeKey(code, portal), deadline)
    if (value === null) return null
    const proof = this.#keys.proof(locator, credential)
    const sealingKey = this.#keys.sealingKey(proof, credential)
    const own = open([sealingKey], value)
    // The portal may have got this secret after the code was issued.
    const text = own ?? open(this.#keys.sealingKeys(locator, portal), value)
    if (text === null) return null
    const grant = decodeGrant(text, this.#lifetime)
    return grant && { grant, locator, proof, sealed: own === null ? seal([sealingKey], text) : value }
  }

  #of (code: string, portal: RegisteredPortal): AuthorizationCode {
    const locator = this.#keys.locator(code, portal)
    return { code, portal, locator, signInId: this.#keys.signInId(locator) }
  }
}
