// A code and a token that were never issued, and that the plugin looks up in the store all the same: the token has the
// proof that needs the client secret.
import { randomBytes } from 'node:crypto'
import { grantKeys } from '../../lib/grants/keys.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from './host.ts'

/** A text in the form of a code. */
export const randomCode = (): string => randomBytes(33).toString('base64url')

export function neverIssued (): { code: string, token: string } {
  const keys = grantKeys('')
  const portal = registeredPortal(PORTAL)
  const code = randomCode()
  const locator = keys.locator(code, portal)
  const { proof } = keys.ofSecret(locator, portal.credentials[0] as string)
  return { code, token: locator + proof + Buffer.from(PORTAL.clientId).toString('base64url') }
}
