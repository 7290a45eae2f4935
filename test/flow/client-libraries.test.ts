// The whole sign-in, played by OAuth client libraries that others wrote, over real HTTP and a real Redis.
import * as oauth from 'oauth4webapi'
import t from 'tap'
import { PORTAL, RECORDS, sessionOf, startApp } from '../app.ts'
import { prepared } from '../helpers/prepared.ts'
import { startRedis } from '../helpers/redis.ts'

const { url } = await prepared(async () => {
  const { url: redis } = await startRedis(t)
  return await startApp(t, { options: { redis } })
})
const metadata = {
  issuer: url,
  authorization_endpoint: `${url}/oauth/authorize`,
  token_endpoint: `${url}/oauth/token`,
  userinfo_endpoint: `${url}/oauth/user`
}

/** What the browser does: it follows to the service and is sent back. */
async function browse (authorizationUrl: string | URL): Promise<URL> {
  const response = await fetch(authorizationUrl, { redirect: 'manual', headers: { cookie: sessionOf('ada') } })
  return new URL(response.headers.get('location') as string)
}

t.test('oauth4webapi', async (t) => {
  const client = { client_id: PORTAL.clientId }
  const http = { [oauth.allowInsecureRequests]: true }
  const state = oauth.generateRandomState()
  const verifier = oauth.generateRandomCodeVerifier()
  const authorizationUrl = new URL(metadata.authorization_endpoint)
  authorizationUrl.search = new URLSearchParams({
    client_id: PORTAL.clientId,
    redirect_uri: PORTAL.redirectUri,
    response_type: 'code',
    scope: '',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256'
  }).toString()
  const parameters = oauth.validateAuthResponse(metadata, client, await browse(authorizationUrl), state)
  const response = await oauth.authorizationCodeGrantRequest(
    metadata, client, oauth.ClientSecretBasic(PORTAL.clientSecret), parameters, PORTAL.redirectUri, verifier, http
  )
  const { access_token: token } = await oauth.processAuthorizationCodeResponse(metadata, client, response)
  const userinfo = new URL(metadata.userinfo_endpoint)
  const ask = () => oauth.protectedResourceRequest(token, 'GET', userinfo, undefined, undefined, http)
  const record = await ask()
  t.strictSame(await record.json(), RECORDS.ada)
  await t.rejects(ask(), { name: 'WWWAuthenticateChallengeError', status: 401 }, 'the token is used up')
})
