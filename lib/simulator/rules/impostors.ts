import type { Changes } from '../../flow/requests.ts'
import { withHeader } from './edits.ts'
import type { Try } from './refusals.ts'
import type { Service } from './service.ts'

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The requests of somebody who has a code and does not know the secret. */
export function impostors ({ integration, browser, settings: { user } }: Service): Try[] {
  const { clientId, tokenUrl } = integration
  const claims = base64url(JSON.stringify({ iss: clientId, sub: clientId, exp: 9_999_999_999 }))
  const jwt = `${base64url('{"alg":"none"}')}.${claims}.`
  const form: Record<string, Changes> = {
    'without client_id and client_secret': { client_id: undefined },
    'with the client_id as its client_secret': { client_secret: clientId },
    'with an unsigned client_assertion': {
      client_assertion_type: ASSERTION, client_assertion: jwt
    }
  }
  const headers: Array<readonly [how: string, name: string, value: string]> = [
    ['with Basic and no password', 'Authorization', basic(`${clientId}:`)],
    ['with Basic and an empty name', 'Authorization', basic(':')],
    ['with a Bearer token', 'Authorization', 'Bearer a-token'],
    ['with the cookies of the user', 'Cookie', browser.jar.header(new URL(tokenUrl))],
    ...user.headers.map(([name, value]) =>
      [`with the header ${name} of the user`, name, value] as const)
  ]
  const secretless = { client_secret: undefined }
  const asForm = { clientAuthentication: 'form' as const }
  return [
    ...Object.entries(form).map(([how, changes]) =>
      ({ how: `a request ${how}`, changes: { ...secretless, ...changes }, caller: asForm })),
    ...headers.map(([how, name, value]) =>
      ({
        how: `a request ${how}`, changes: secretless, caller: asForm, edit: withHeader(name, value)
      }))
  ]
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
