import { type Answer, readToken, readUser } from './answers.ts'
import { type Secrets } from './masking.ts'
import { type Changes, tokenRequest, userRequest } from './requests.ts'
import { type Integration } from './settings.ts'
import { type Exchange, type WireRequest } from './wire.ts'
import { type UserInformation } from '../user-information.ts'

/** An authorization code, and the PKCE verifier whose challenge was sent with the request for it. */
export interface Grant {
  code: string
  verifier?: string | undefined
}

/** A call of the portal to the service, and what the portal makes of the response. */
export interface Call<Value> {
  exchange: Exchange
  answer: Answer<Value>
}

/** Changes a request as a whole before it is sent. */
export type Edit = (request: WireRequest) => WireRequest

const unchanged: Edit = (request) => request

/** `POST /oauth/token`: exchanges a code for an access token. */
export async function redeem (
  portal: Integration, secrets: Secrets, { code, verifier }: Grant, changes: Changes = {}, edit = unchanged
): Promise<Call<string>> {
  secrets.add(code)
  const exchange = await portal.send(edit(tokenRequest(portal, code, verifier, changes)))
  const answer = readToken(exchange)
  if (answer.ok) secrets.add(answer.value)
  return { exchange, answer }
}

/** `GET /oauth/user`: exchanges an access token for the user information record. */
export async function fetchUser (
  portal: Integration, secrets: Secrets, accessToken: string, edit = unchanged
): Promise<Call<UserInformation>> {
  secrets.add(accessToken)
  const exchange = await portal.send(edit(userRequest(portal, accessToken)))
  return { exchange, answer: readUser(exchange, portal) }
}
