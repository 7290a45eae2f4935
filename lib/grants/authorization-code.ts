import { randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { OAuthError } from '../errors.ts'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant, encodeGrant } from './grant.ts'
import type { Grant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { open, seal } from './sealing.ts'

/** A multiple of 3 bytes has one base64url encoding: no other text decodes to the same code. */
const CODE_BYTES = 33

/** 33 bytes in base64url. */
const CODE = /^[\w-]{44}$/

/** A code of a portal, and what is derived from it. */
export interface AuthorizationCode {
  code: string
  portal: RegisteredPortal
  /** The first part of the access token. */
  locator: string
  signInId: string
}

/** What a redeemed code represented. */
export interface RedeemedCode {
  grant: Grant
  /** The second part of the access token. */
  proof: string
  /** The grant, sealed under the secret that the proof is derived from. */
  sealed: string
}

/** Issues and redeems authorization codes (RFC 6749 section 4.1.2). */
export class AuthorizationCodes {
  readonly #store: TimedStore
  readonly #keys: GrantKeys
  readonly #lifetime: number

  /** @param lifetime - seconds until a code expires */
  constructor (store: TimedStore, keys: GrantKeys, lifetime: number) {
    this.#store = store
    this.#keys = keys
    this.#lifetime = lifetime
  }

  /**
   * Issues a code for the portal. Its grant can be opened with each secret that the portal has now.
   *
   * @param deadline - a time of `performance.now()`
   * @throws OAuthError `store_unavailable`
   */
  async issue (portal: RegisteredPortal, grant: Grant, deadline: number): Promise<AuthorizationCode> {
    const code = this.#codeOf(randomBytes(CODE_BYTES).toString('base64url'), portal)
    const sealed = seal(this.#sealingKeys(code), encodeGrant(grant))
    const isStored = await this.#store.put(this.#storageKey(code), sealed, this.#lifetime, deadline)
    if (!isStored) throw new OAuthError('internal_error', { cause: 'put returned false for a new key' })
    return code
  }

  /** A code that the portal sent. Returns null for a text that cannot be a code. */
  read (text: string, portal: RegisteredPortal): AuthorizationCode | null {
    return CODE.test(text) ? this.#codeOf(text, portal) : null
  }

  /**
   * Redeems a code, which is single-use.
   *
   * @param secret - the one with which the portal authenticated
   * @param deadline - a time of `performance.now()`
   * @returns null when the code is unknown, used, expired or another portal's
   * @throws OAuthError `store_unavailable`
   */
  async redeem (code: AuthorizationCode, secret: KeyObject, deadline: number): Promise<RedeemedCode | null> {
    const stored = await this.#store.take(this.#storageKey(code), deadline)
    if (stored === null) return null
    const { proof, sealingKey } = this.#keys.ofSecret(secret, code.locator, code.portal.information)
    const text = open([sealingKey], stored)
    if (text !== null) return this.#redeemed(text, proof, stored)
    // The portal got this secret after the code was issued: the grant has no copy for it yet.
    const older = open(this.#sealingKeys(code), stored)
    return older === null ? null : this.#redeemed(older, proof, seal([sealingKey], older))
  }

  #redeemed (text: string, proof: string, sealed: string): RedeemedCode | null {
    const grant = decodeGrant(text, this.#lifetime)
    return grant === null ? null : { grant, proof, sealed }
  }

  #codeOf (code: string, portal: RegisteredPortal): AuthorizationCode {
    const locator = this.#keys.locator(code, portal.information)
    return { code, portal, locator, signInId: this.#keys.signInId(locator) }
  }

  #storageKey ({ code, portal }: AuthorizationCode): string {
    return this.#keys.codeStorageKey(code, portal.information)
  }

  /** One for each secret of the portal. */
  #sealingKeys ({ locator, portal: { secrets, information } }: AuthorizationCode): KeyObject[] {
    return secrets.map((secret) => this.#keys.ofSecret(secret, locator, information).sealingKey)
  }
}
