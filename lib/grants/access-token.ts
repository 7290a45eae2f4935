import { timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant } from './grant.ts'
import type { Grant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { open } from './sealing.ts'

/**
 * Seconds by which a revocation outlives the token. A request that is about to issue it waits for less (storeTimeout).
 */
const REVOCATION_MARGIN = 60

/** Locator and proof, each 32 bytes in base64url, and the client_id in base64url. */
const TOKEN = /^(?<locator>[\w-]{43})(?<proof>[\w-]{43})(?<encodedClientId>[\w-]+)$/

/** Of an authorization code, what its token is issued for. */
interface SignIn {
  locator: string
  portal: RegisteredPortal
}

/** The parts of an access token. Nothing is proven yet: see `AccessTokens.prove`. */
export interface AccessToken {
  locator: string
  proof: string
  clientId: string
}

/** An access token that was issued for a portal, with a secret that the portal still has. */
export interface ProvenToken {
  locator: string
  sealingKey: KeyObject
  signInId: string
}

/**
 * Issues, redeems and revokes access tokens (RFC 6749 section 5.1, RFC 6750).
 *
 * An access token consists of locator, proof and client_id. The locator is derived from the code, so a replay of the
 * code can revoke the token without knowing it. What is stored is the sealed grant of the code, as it is.
 */
export class AccessTokens {
  readonly #store: TimedStore
  readonly #keys: GrantKeys
  readonly #lifetime: number
  readonly #codeLifetime: number

  /** @param lifetimes - seconds until a token and a code expire */
  constructor (store: TimedStore, keys: GrantKeys, lifetimes: { tokenLifetime: number, codeLifetime: number }) {
    this.#store = store
    this.#keys = keys
    this.#lifetime = lifetimes.tokenLifetime
    this.#codeLifetime = lifetimes.codeLifetime
  }

  /**
   * Issues the token of a redeemed code.
   *
   * @param deadline - a time of `performance.now()`
   * @returns null when the code was replayed meanwhile
   * @throws OAuthError `store_unavailable`
   */
  async issue (
    { locator, portal }: SignIn, { proof, sealed }: { proof: string, sealed: string }, deadline: number
  ): Promise<string | null> {
    const isIssued = await this.#store.put(this.#keys.tokenStorageKey(locator), sealed, this.#lifetime, deadline)
    return isIssued ? locator + proof + encodeClientId(portal.information.clientId) : null
  }

  /** Verifies that the token was issued for the portal. This comes before any store call: a forgery takes nothing. */
  prove ({ locator, proof }: AccessToken, { secrets, information }: RegisteredPortal): ProvenToken | undefined {
    const given = Buffer.from(proof)
    for (const secret of secrets) {
      const known = this.#keys.ofSecret(secret, locator, information)
      if (timingSafeEqual(Buffer.from(known.proof), given)) {
        return { locator, sealingKey: known.sealingKey, signInId: this.#keys.signInId(locator) }
      }
    }
    return undefined
  }

  /**
   * Redeems a token, which is single-use.
   *
   * @param deadline - a time of `performance.now()`
   * @returns null when the token is used, expired or revoked
   * @throws OAuthError `store_unavailable`
   */
  async redeem ({ locator, sealingKey }: ProvenToken, deadline: number): Promise<Grant | null> {
    return this.#grantOf(await this.#store.take(this.#keys.tokenStorageKey(locator), deadline), [sealingKey])
  }

  /**
   * Revokes the token of a code, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD).
   *
   * @param deadline - a time of `performance.now()`
   * @returns the grant of a token that was alive, or null
   * @throws OAuthError `store_unavailable`
   */
  async revoke ({ locator, portal }: SignIn, deadline: number): Promise<Grant | null> {
    const lifetime = this.#lifetime + REVOCATION_MARGIN
    const stored = await this.#store.revoke(this.#keys.tokenStorageKey(locator), lifetime, deadline)
    const { secrets, information } = portal
    return this.#grantOf(stored,
      secrets.map((secret) => this.#keys.ofSecret(secret, locator, information).sealingKey))
  }

  #grantOf (stored: string | null, sealingKeys: KeyObject[]): Grant | null {
    const text = stored === null ? null : open(sealingKeys, stored)
    // The time in a grant is when its code was issued.
    return text === null ? null : decodeGrant(text, this.#codeLifetime + this.#lifetime)
  }
}

/**
 * Reads an access token. Returns null where its form or the encoding of its client_id is not that of an issued token;
 * `prove` compares the rest.
 */
export function readAccessToken (text: string): AccessToken | null {
  const { locator, proof, encodedClientId } = TOKEN.exec(text)?.groups as Record<string, string> ?? {}
  if (locator === undefined || proof === undefined || encodedClientId === undefined) return null
  const clientId = Buffer.from(encodedClientId, 'base64url').toString()
  return encodeClientId(clientId) === encodedClientId ? { locator, proof, clientId } : null
}

function encodeClientId (clientId: string): string {
  return Buffer.from(clientId).toString('base64url')
}
