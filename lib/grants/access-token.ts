import { timingSafeEqual } from 'node:crypto'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant } from './grant.ts'
import type { Grant, SealedGrant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { open } from './sealing.ts'

// Seconds by which a revocation outlives the token, and any request that is about to issue it.
const MARGIN = 60

// Locator, proof and client_id.
const TOKEN = /^([\w-]{43})([\w-]{43})([\w-]+)$/

/** The parts of a token, not yet verified: see `AccessTokens.prove`. */
export interface AccessToken {
  /** Determines where the token is stored. */
  locator: string
  /** Cannot be computed without the client secret. */
  proof: string
  clientId: string
}

/** A token that was issued for a portal, with a secret that it still has. */
export interface ProvenToken {
  storageKey: string
  sealingKey: string
  signInId: string
}

/**
 * Issues, redeems and revokes access tokens.
 *
 * A token is locator, proof and client_id. The locator is derived from the code: a replay of the code can revoke the
 * token without knowing it. What is stored is the sealed grant of the code, handed on as it is.
 */
export class AccessTokens {
  readonly #store: TimedStore
  readonly #keys: GrantKeys
  readonly #codeLifetime: number
  readonly #lifetime: number

  /** Lifetimes in seconds. */
  constructor (store: TimedStore, keys: GrantKeys, codeLifetime: number, lifetime: number) {
    this.#store = store
    this.#keys = keys
    this.#codeLifetime = codeLifetime
    this.#lifetime = lifetime
  }

  /** Issues the token of a redeemed code. Returns null when the code was replayed in the meantime. */
  async issue ({ locator, proof, sealed }: SealedGrant, clientId: string, deadline: number): Promise<string | null> {
    const isIssued = await this.#store.put(this.#keys.tokenKey(locator), sealed, this.#lifetime, deadline)
    return isIssued ? locator + proof + encodeClientId(clientId) : null
  }

  /** Verifies that the token was issued for the portal, before any store call: a forged token redeems nothing. */
  prove ({ locator, proof }: AccessToken, { credentials }: RegisteredPortal): ProvenToken | null {
    const given = Buffer.from(proof)
    const matches = credentials.map((known) => timingSafeEqual(Buffer.from(this.#keys.proof(locator, known)), given))
    const credential = credentials[matches.indexOf(true)]
    if (credential === undefined) return null
    return {
      storageKey: this.#keys.tokenKey(locator),
      sealingKey: this.#keys.sealingKey(proof, credential),
      signInId: this.#keys.signInId(locator)
    }
  }

  /** Redeems the single-use token. Returns null when it is used, expired or revoked. */
  async redeem ({ storageKey, sealingKey }: ProvenToken, deadline: number): Promise<Grant | null> {
    const value = await this.#store.take(storageKey, deadline)
    return value === null ? null : this.#grantOf([sealingKey], value)
  }

  /**
   * Revokes the token of a code, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD revoke). Returns the
   * grant of a token that was alive.
   */
  async revoke (locator: string, portal: RegisteredPortal, deadline: number): Promise<Grant | null> {
    const value = await this.#store.revoke(this.#keys.tokenKey(locator), this.#lifetime + MARGIN, deadline)
    return value === null ? null : this.#grantOf(this.#keys.sealingKeys(locator, portal), value)
  }

  /** Opens and decodes the grant. The time in it is when its code was issued. */
  #grantOf (sealingKeys: string[], value: string): Grant | null {
    const text = open(sealingKeys, value)
    return text === null ? null : decodeGrant(text, this.#codeLifetime + this.#lifetime)
  }
}

/** The parts of a token. Returns null for a text that is not exactly as it would be issued. */
export function readAccessToken (text: string): AccessToken | null {
  const [, locator, proof, encoded] = TOKEN.exec(text) as [string, string, string, string] | null ?? []
  if (locator === undefined || proof === undefined || encoded === undefined) return null
  const clientId = Buffer.from(encoded, 'base64url').toString()
  return encodeClientId(clientId) === encoded ? { locator, proof, clientId } : null
}

function encodeClientId (clientId: string): string {
  return Buffer.from(clientId).toString('base64url')
}
