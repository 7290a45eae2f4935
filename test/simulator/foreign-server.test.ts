// Endpoints that we did not write, by `@node-oauth/oauth2-server`: what differs from the RFCs is found, nothing else.
import OAuth2Server from '@node-oauth/oauth2-server'
import t from 'tap'
import type { WireRequest } from '../../lib/flow/wire.ts'
import { CLIENT_ID, json, RECORDS, REDIRECT_URI } from '../helpers/service.ts'
import { EVERY_RULE, failedRules, redirect, tried } from './trial.ts'
import type { Reply } from '../helpers/service.ts'

/** The library keeps to the characters that RFC 6749 appendix A.2 allows. */
const clientSecret = 'a secret of the portal'

/**
 * The endpoints, with maps as the model and single-use access tokens. The library rejects an empty scope; `adapted`
 * removes it from the request.
 */
function endpoints (adapted: boolean): (request: WireRequest) => Promise<Reply> {
  const codes = new Map<string, OAuth2Server.AuthorizationCode>()
  const tokens = new Map<string, OAuth2Server.Token>()
  const portal = { id: CLIENT_ID, grants: ['authorization_code'], redirectUris: [REDIRECT_URI] }
  const model: OAuth2Server.AuthorizationCodeModel = {
    getClient: async (id, secret) =>
      id === CLIENT_ID && [null, undefined, clientSecret].includes(secret) ? portal : false,
    saveAuthorizationCode: async (code, client, user) => {
      const saved = { ...code, client, user } as OAuth2Server.AuthorizationCode
      codes.set(code.authorizationCode, saved)
      return saved
    },
    getAuthorizationCode: async (code) => codes.get(code) ?? false,
    revokeAuthorizationCode: async ({ authorizationCode }) => codes.delete(authorizationCode),
    saveToken: async (token, client, user) => {
      const saved = { ...token, client, user }
      tokens.set(token.accessToken, saved)
      return saved
    },
    getAccessToken: async (token) => tokens.get(token) ?? false
  }
  const oauth = new OAuth2Server({
    model, authorizationCodeLifetime: 60, accessTokenLifetime: 60, allowEmptyState: false
  })

  async function respond (path: string, request: OAuth2Server.Request, response: OAuth2Server.Response): Promise<void> {
    if (path === '/oauth/authorize') {
      await oauth.authorize(request, response, { authenticateHandler: { handle: () => ({ id: 'u-1' }) } })
    } else if (path === '/oauth/token') {
      await oauth.token(request, response)
    } else {
      const { accessToken } = await oauth.authenticate(request, response)
      if (!tokens.delete(accessToken)) throw new OAuth2Server.InvalidTokenError('The token was used.')
      response.body = RECORDS.ada
    }
  }

  return async ({ method, url, headers, body = '' }) => {
    const { pathname, search, searchParams } = new URL(url)
    if (!pathname.startsWith('/oauth/')) return null
    const given = { ...Object.fromEntries(headers), 'Content-Length': String(body.length) } as Record<string, string>
    if (pathname === '/oauth/authorize' && !given.Cookie?.includes('sid=ada')) {
      return redirect(`/login?return_to=${encodeURIComponent(pathname + search)}`)
    }
    if (adapted && searchParams.get('scope') === '') searchParams.delete('scope')
    const query = Object.fromEntries(searchParams)
    const form = Object.fromEntries(new URLSearchParams(body))
    const response = new OAuth2Server.Response()
    try {
      await respond(pathname, new OAuth2Server.Request({ method, headers: given, query, body: form }), response)
    } catch (error) {
      const { code = 500, name, message } = error as { code?: number, name: string, message: string }
      const refusal = { error: name, error_description: message }
      if (response.headers?.location === undefined) Object.assign(response, { status: code, body: refusal })
    }
    const { status = 500, headers: sent = {} } = response
    return json(status, response.body as object, Object.entries(sent))
  }
}

await t.test('with the empty scope removed', async (t) => {
  const { findings, stopped } = await tried(EVERY_RULE, { clientSecret, service: endpoints(true) })
  t.equal(stopped, undefined)
  t.strictSame(failedRules(findings), [
    '!authorize.missing-redirect-uri', '?authorize.repeated', '?authorize.head', '?authorize.no-store',
    '?authorize.referrer', '?authorize.framing', '?token.repeated', '?token.client-challenge', '?token.basic',
    '?user.scheme-case', '?user.head', '?user.no-store', '?user.other-places',
    '?token.replay-revokes', '!service.error-characters'
  ])
})

await t.test('the unchanged library', async (t) => {
  const { findings } = await tried(EVERY_RULE, { clientSecret, service: endpoints(false) })
  const [failure] = findings.filter(({ result }) => result.outcome === 'fail')
  t.match(failure, { result: { got: /invalid_scope/, fix: /empty scope/ } })
})
