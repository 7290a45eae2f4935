import { timingSafeEqual } from 'node:crypto'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant } from './grant.ts'
import type { AuthorizationCode, Grant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { open } from './sealing.ts'

// Seconds by which a revocation outlives the token, and any request that is about to issue it.
const MARGIN = 60

// Locator, proof and client_id.
const TOKEN = /^([\w-]{43})([\w-]{43})([\w-]+)$/

/** The parts of a token, not yet verified: see `prove`. */
export interface AccessToken {
  locator: string
  proof: string
  clientId: string
}

/** A token that was issued for a portal, with a secret that it still has. */
export interface ProvenToken {
  tokenKey: string
  sealingKey: string
  signInId: string
}

export type AccessTokens = ReturnType<typeof accessTokens>

/**
 * Issues, redeems and revokes access tokens. Lifetimes in seconds.
 *
 * A token is locator, proof and client_id. The locator is derived from the code: a replay of the code can revoke the
 * token without knowing it. What is stored is the sealed grant of the code, handed on as it is.
 */
export function accessTokens (store: TimedStore, keys: GrantKeys, codeLifetime: number, lifetime: number) {
  return {
    /** Issues the token of a redeemed code. Returns null when the code was replayed in the meantime. */
    async issue (
      { tokenKey, locator, portal }: AuthorizationCode, { proof, sealed }: { proof: string, sealed: string },
      deadline: number
    ): Promise<string | null> {
      const isIssued = await store.put(tokenKey, sealed, lifetime, deadline)
      return isIssued ? locator + proof + encodeClientId(portal.information.clientId) : null
    },

    /** Verifies that the token was issued for the portal, before any store call: a forged token redeems nothing. */
    prove ({ locator, proof }: AccessToken, { credentials }: RegisteredPortal): ProvenToken | undefined {
      const given = Buffer.from(proof)
      const proven = credentials
        .map((credential) => keys.ofSecret(locator, credential))
        .find((known) => timingSafeEqual(Buffer.from(known.proof), given))
      return proven && { ...keys.ofToken(locator), ...proven }
    },

    /** Redeems the single-use token. Returns null when it is used, expired or revoked. */
    async redeem ({ tokenKey, sealingKey }: ProvenToken, deadline: number): Promise<Grant | null> {
      return grantOf([sealingKey], await store.take(tokenKey, deadline))
    },

    /**
     * Revokes the token of a code, or keeps it from being issued (RFC 6749 section 4.1.2: SHOULD revoke). Returns the
     * grant of a token that was alive.
     */
    async revoke ({ tokenKey, locator, portal }: AuthorizationCode, deadline: number): Promise<Grant | null> {
      const value = await store.revoke(tokenKey, lifetime + MARGIN, deadline)
      return grantOf(keys.sealingKeys(locator, portal), value)
    }
  }

  /** Opens and decodes the grant. The time in it is when its code was issued. */
  function grantOf (sealingKeys: string[], value: string | null): Grant | null {
    const text = value === null ? null : open(sealingKeys, value)
    return text === null ? null : decodeGrant(text, codeLifetime + lifetime)
  }
}

/** The parts of a token. Returns null for a text that is not exactly as it would be issued. */
export function readAccessToken (text: string): AccessToken | null {
  const parts = TOKEN.exec(text) as [string, string, string, string] | null
  if (parts === null) return null
  const [, locator, proof, encoded] = parts
  const clientId = Buffer.from(encoded, 'base64url').toString()
  return encodeClientId(clientId) === encoded ? { locator, proof, clientId } : null
}

function encodeClientId (clientId: string): string {
  return Buffer.from(clientId).toString('base64url')
}
