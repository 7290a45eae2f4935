import { randomBytes } from 'node:crypto'
import { OAuthError } from '../errors.ts'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { TimedStore } from '../stores/store.ts'
import { decodeGrant, encodeGrant } from './grant.ts'
import type { AuthorizationCode, Grant } from './grant.ts'
import type { GrantKeys } from './keys.ts'
import { open, seal } from './sealing.ts'

/** Characters of 264 bits: 33 bytes, a multiple of 3, have one base64url encoding. */
const CODE_LENGTH = 44

/** The next codes. A call of `randomBytes` for each of them costs 2 % of a sign-in. */
let pool = ''

function randomCode (): string {
  pool ||= randomBytes(64 * 33).toString('base64url')
  const code = pool.slice(0, CODE_LENGTH)
  pool = pool.slice(CODE_LENGTH)
  return code
}

/** What a code represented. */
export interface RedeemedCode {
  grant: Grant
  /** The second part of the token. It cannot be computed without the client secret. */
  proof: string
  /** The grant, as the store keeps it. */
  sealed: string
}

export type AuthorizationCodes = ReturnType<typeof authorizationCodes>

/** Issues and redeems authorization codes (RFC 6749 section 4.1.2). `lifetime` in seconds. */
export function authorizationCodes (store: TimedStore, keys: GrantKeys, lifetime: number) {
  return {
    /** Issues a code that is bound to the portal. Its grant can be opened with each of the portal's secrets. */
    async issue (portal: RegisteredPortal, grant: Grant, deadline: number): Promise<AuthorizationCode> {
      const code = codeOf(randomCode(), portal)
      const sealed = seal(keys.sealingKeys(code.locator, portal), encodeGrant(grant))
      const isStored = await store.put(keys.codeKey(code.code, portal), sealed, lifetime, deadline)
      if (isStored) return code
      throw new OAuthError('internal_error', { cause: 'put returned false for a new key' })
    },

    /** A code that the portal sent. Returns null for a text that cannot be a code. */
    read (text: string, portal: RegisteredPortal): AuthorizationCode | null {
      return /^[\w-]{44}$/.test(text) ? codeOf(text, portal) : null
    },

    /**
     * Redeems the single-use code. Returns null when it is unknown, used, expired or another portal's. `credential` is
     * the one with which the portal authenticated.
     */
    async redeem (
      { code, portal, locator }: AuthorizationCode, credential: string, deadline: number
    ): Promise<RedeemedCode | null> {
      const value = await store.take(keys.codeKey(code, portal), deadline)
      if (value === null) return null
      const { sealingKey, proof } = keys.ofSecret(locator, credential)
      const own = open([sealingKey], value)
      // The portal may have got this secret after the code was issued.
      const text = own ?? open(keys.sealingKeys(locator, portal), value)
      if (text === null) return null
      const grant = decodeGrant(text, lifetime)
      return grant && { grant, proof, sealed: own === null ? seal([sealingKey], text) : value }
    }
  }

  function codeOf (code: string, portal: RegisteredPortal): AuthorizationCode {
    const locator = keys.locator(code, portal)
    return { code, portal, locator, ...keys.ofToken(locator) }
  }
}
