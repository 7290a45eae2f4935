import { hash } from 'node:crypto'
import type { RegisteredPortal } from '../portal/registered-portal.ts'

/** Characters of a storage key, a locator and a fingerprint: 120 bits each in base64url. */
export const NAME_LENGTH = 20
/** Characters of a sealing key: the 32 bytes of AES-256 in base64url. */
export const SEALING_KEY_LENGTH = 43

/** What is derived from a code and the portal's client_id alone, so that a replay leads to the token. */
export interface CodeNames {
  /** Key under which the store keeps the grant of the code. */
  storageKey: string
  /** First part of the token of the code; determines the token's storage key. */
  locator: string
}

/**
 * Everything that is derived from codes and tokens. `scope` is the prefix of the registration: it keeps registrations
 * apart that share a store.
 *
 * The store sees storage keys and fingerprints, which lead to nothing else. A sealing key and a fingerprint need the
 * portal's client secret: who can write to the store, but has no client secret, can make no grant and no token. A
 * fingerprint is bound to the text, since a token contains its sealing key: its bearer could seal another text.
 */
export class GrantKeys {
  readonly #scope: string

  constructor (scope: string) {
    this.#scope = scope
  }

  ofCode (code: string, { information: { clientId } }: RegisteredPortal): CodeNames {
    const names = this.#derive(code, 'authorization_code', JSON.stringify(clientId))
    return { storageKey: names.slice(0, NAME_LENGTH), locator: names.slice(NAME_LENGTH, 2 * NAME_LENGTH) }
  }

  /** Seals the grant of a code, once for each secret of the portal, and bound to everything else of it. */
  sealingKeys (code: string, { credentials, binding }: RegisteredPortal): string[] {
    return credentials.map((credential) =>
      this.#derive(code, 'sealing', credential + binding).slice(0, SEALING_KEY_LENGTH))
  }

  /** Key under which the store keeps what belongs to the token of the locator. */
  ofToken (locator: string): string {
    return this.#derive(locator, 'access_token', '').slice(0, NAME_LENGTH)
  }

  /** Each proves that a process that has the secret stored the text for the code or token. One for each secret. */
  fingerprints (
    kind: 'code' | 'token', codeOrToken: string, text: string, { credentials }: RegisteredPortal
  ): string[] {
    return credentials.map((credential) =>
      this.#derive(codeOrToken, `${kind}_fingerprint`, credential + text).slice(0, NAME_LENGTH))
  }

  /**
   * The one-step key derivation of NIST SP 800-56C section 4.1: codes and tokens are uniformly random. HKDF would cost
   * more than twice as much. What it is derived from has one length for each purpose, so no two inputs are the same.
   */
  #derive (secret: string, purpose: string, info: string): string {
    // As text: a Buffer made by node:crypto costs as much as the hash.
    return hash('sha256', `\0\0\0\x01${secret}${purpose} ${info} ${this.#scope}`, 'base64url')
  }
}
