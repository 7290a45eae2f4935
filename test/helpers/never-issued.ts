// A code and a token that were never issued, and that the plugin looks up in the store all the same: the token has the
// proof that needs the client secret.
import { randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../app.ts'

/** A text in the form of a code. */
export const randomCode = (): string => randomBytes(33).toString('base64url')

export function neverIssued (): { code: string, token: string } {
  const keys = new GrantKeys('')
  const { information, secrets: [secret] } = new RegisteredPortal(PORTAL)
  const code = randomCode()
  const locator = keys.locator(code, information)
  const { proof } = keys.ofSecret(secret as KeyObject, locator, information)
  return { code, token: locator + proof + Buffer.from(PORTAL.clientId).toString('base64url') }
}
