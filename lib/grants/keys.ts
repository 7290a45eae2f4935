import { hash } from 'node:crypto'
import type { RegisteredPortal } from '../portal/registered-portal.ts'

/** Characters of a key of the store and of a sign-in's id: 120 bits in base64url. */
const NAME_LENGTH = 20

/**
 * Is part of everything that is derived. Change it with the format of stored values: on a shared store, a process of
 * this version would take values of another version, and could not open them.
 */
const FORMAT = 3

/**
 * Everything that is derived from codes. `scope` is the prefix of the registration: it keeps registrations apart that
 * share a store.
 *
 * | derived     | from                                                            | where it is |
 * |-------------|-----------------------------------------------------------------|-------------|
 * | code key    | code, client_id and the portal's other values but the secret    | store       |
 * | locator     | code, client_id                                                 | token       |
 * | proof       | locator, client_id and secret                                   | token       |
 * | sealing key | locator, client_id and secret                                   | nowhere     |
 * | token key   | locator                                                         | store       |
 * | sign-in id  | locator                                                         | events      |
 *
 * Without the client secret, tokens cannot be forged, and stored values can neither be read nor forged. The token key
 * can be derived from a replayed code, also when the portal's secret or another of its values has changed.
 */
export function grantKeys (scope: string) {
  return {
    codeKey: (code: string, { binding }: RegisteredPortal): string =>
      derive(code, 'code_key', binding).slice(0, NAME_LENGTH),

    locator: (code: string, { information: { clientId } }: RegisteredPortal): string =>
      derive(code, 'locator', JSON.stringify(clientId)),

    /** The token key and the sign-in id: two parts of one hash, of which neither tells anything of the other. */
    ofToken (locator: string) {
      const derived = derive(locator, 'token_key', '')
      return { tokenKey: derived.slice(0, NAME_LENGTH), signInId: derived.slice(NAME_LENGTH, 2 * NAME_LENGTH) }
    },

    ofSecret,

    /** One for each secret of the portal. */
    sealingKeys: (locator: string, { credentials }: RegisteredPortal): string[] =>
      credentials.map((credential) => ofSecret(locator, credential).sealingKey)
  }

  /** The sealing key and the proof: again two parts of one hash. */
  function ofSecret (locator: string, credential: string) {
    const derived = derive(locator, 'secret', credential, 'sha512')
    // 43 characters are 256 bits.
    return { sealingKey: derived.slice(0, 43), proof: derived.slice(43) }
  }

  /**
   * The one-step key derivation of NIST SP 800-56C section 4.1: codes are uniformly random. For each purpose the secret
   * has one length, and the info is JSON or empty: no two inputs are equal.
   */
  function derive (secret: string, purpose: string, info: string, algorithm = 'sha256'): string {
    return hash(algorithm, `\0\0\0\x01${secret}${purpose} ${FORMAT} ${info} ${scope}`, 'base64url')
  }
}

export type GrantKeys = ReturnType<typeof grantKeys>
