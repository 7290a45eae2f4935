import { createHmac, createSecretKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { PortalInformation } from '../portal/registered-portal.ts'

/** Characters of a storage key and of a sign-in id: 120 bits in base64url. */
const NAME_LENGTH = 20

/**
 * Part of everything that is derived, so that versions with different formats of stored values never find each other's.
 * Raise it when a format changes.
 */
const FORMAT = 4

/** What is derived from the locator of a sign-in and one client secret of its portal. */
export interface SecretValues {
  /** The second part of the access token. Without the client secret nobody can compute it. */
  proof: string
  /** The AES-256 key under which the grant is sealed. It is stored and sent nowhere. */
  sealingKey: KeyObject
}

/**
 * Derives everything that a sign-in needs from its authorization code.
 *
 * | Value                    | By           | From                                            | Where it is |
 * |--------------------------|--------------|-------------------------------------------------|-------------|
 * | storage key of the code  | SHA-256      | code, and what the portal has but its secrets   | store       |
 * | locator                  | SHA-256      | code, client_id                                 | token       |
 * | proof                    | HMAC-SHA-512 | locator, client_id; keyed by the client secret  | token       |
 * | sealing key              | HMAC-SHA-512 | the other half of the same output               | nowhere     |
 * | storage key of the token | SHA-256      | locator                                         | store       |
 * | sign-in id               | SHA-256      | locator                                         | events      |
 *
 * Each value depends on its purpose and on the prefix of the registration as well.
 *
 * - HMAC is a pseudorandom function: where the client secret cannot be guessed, the proof tells nothing of it, nor of
 *   the sealing key. Where it can be guessed, the proof tests each guess without a request.
 * - A code is 264 random bits, so no hash leads back to it. Whoever has the token, and so the locator, can compute its
 *   storage key and its sign-in id, which lead nowhere without the client secret.
 * - The storage key of the token follows from the code and the client_id: a replayed code leads to its token, also when
 *   the secrets or the other values of the portal have changed since.
 */
export class GrantKeys {
  /** Keeps apart what registrations derive that share a store. */
  readonly #prefix: string

  /** @param prefix - of the registration's routes */
  constructor (prefix: string) {
    this.#prefix = prefix
  }

  /** Where the grant of a code is stored until the code is redeemed. */
  codeStorageKey (code: string, { clientId, redirectUri, loginUrl, level }: PortalInformation): string {
    return this.#hash('storage key of the code', code, clientId, redirectUri, loginUrl, level).slice(0, NAME_LENGTH)
  }

  /** Names a sign-in without its code: the first part of the access token. */
  locator (code: string, { clientId }: PortalInformation): string {
    return this.#hash('locator', code, clientId)
  }

  /** Where the grant is stored while its access token lives. */
  tokenStorageKey (locator: string): string {
    return this.#hash('storage key of the token', locator).slice(0, NAME_LENGTH)
  }

  /** What all events of a sign-in have in common. */
  signInId (locator: string): string {
    return this.#hash('sign-in id', locator).slice(0, NAME_LENGTH)
  }

  /**
   * The values that need a client secret, as the two halves of one HMAC (RFC 2104) that is keyed by it. The client_id
   * is part of the message although the locator depends on it, since whoever sends a token chooses its locator.
   */
  ofSecret (secret: KeyObject, locator: string, { clientId }: PortalInformation): SecretValues {
    const message = this.#message('proof and sealing key', locator, clientId)
    const output = createHmac('sha512', secret).update(message).digest()
    return { proof: output.toString('base64url', 0, 32), sealingKey: createSecretKey(output.subarray(32)) }
  }

  #hash (purpose: string, ...values: string[]): string {
    return hash('sha256', this.#message(purpose, ...values), 'base64url')
  }

  /** JSON joins the values unambiguously: no two lists of values give the same text. */
  #message (purpose: string, ...values: string[]): string {
    return JSON.stringify([purpose, FORMAT, this.#prefix, ...values])
  }
}
