import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import OAuth2Server from '@node-oauth/oauth2-server'
import { Provider } from 'oidc-provider'
import { CLIENT_ID, RECORDS, REDIRECT_URI } from '../helpers/spec-server.ts'

/** Plain: oidc-provider keeps to the characters that RFC 6749 appendix A.2 allows. */
export const FOREIGN_SECRET = 'a secret of the portal'

interface Teardown { teardown (done: () => unknown): unknown }

const loggedIn = ({ headers: { cookie = '' } }: IncomingMessage): boolean => cookie.includes('sid=ada')

/**
 * `oidc-provider` with the addresses of the spec, a login that looks at the cookie `sid`, and the user endpoint of the
 * spec beside it. It grants nothing where no scope is requested; `adapted` adds the scope openid to the request.
 */
export async function oidcProvider (t: Teardown, adapted = true): Promise<string> {
  const server = createServer()
  const base = await listen(t, server)
  const provider = new Provider(base, {
    clients: [{
      client_id: CLIENT_ID,
      client_secret: FOREIGN_SECRET,
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post'
    }],
    routes: { authorization: '/oauth/authorize', token: '/oauth/token' },
    features: { devInteractions: { enabled: false }, userinfo: { enabled: false } },
    pkce: { required: () => false },
    cookies: { keys: ['a key for tests'] },
    ttl: { AuthorizationCode: 60, AccessToken: 60, Grant: 60, Interaction: 60, Session: 60, IdToken: 60 },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    loadExistingGrant: async ({ oidc }: { oidc: { client: { clientId: string }, session: { accountId: string } } }) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    }
  })
  provider.use(async (context, next) => {
    if (adapted && context.path === '/oauth/authorize') context.url = context.url.replace('&scope=', '&scope=openid')
    if (context.path.startsWith('/interaction/')) return interaction(provider, context)
    if (context.path === '/oauth/user') return user(provider, context)
    return next()
  })
  server.on('request', provider.callback())
  return base
}

type Context = Parameters<Parameters<Provider['use']>[0]>[0]

async function interaction (provider: Provider, context: Context): Promise<void> {
  if (loggedIn(context.req)) {
    context.respond = false
    return provider.interactionFinished(context.req, context.res, { login: { accountId: 'u-1' } })
  }
  context.status = 200
  context.body = '<!doctype html><title>Log in</title><form method=post></form>'
}

async function user (provider: Provider, context: Context): Promise<void> {
  const value = /^bearer (.+)$/i.exec(context.get('authorization'))?.[1]
  const token = value === undefined ? undefined : await provider.AccessToken.find(value)
  context.set('cache-control', 'no-store')
  if (token === undefined) {
    context.set('www-authenticate', 'Bearer error="invalid_token"')
    context.status = 401
    context.body = { error: 'invalid_token' }
    return
  }
  await token.destroy()
  context.status = 200
  context.body = RECORDS.ada
}

/**
 * `@node-oauth/oauth2-server` on Node's own server, with maps as its model and single-use access tokens. It rejects an
 * empty scope; `adapted` removes it from the request.
 */
export async function nodeOauth (t: Teardown, adapted = true): Promise<string> {
  const oauth = new OAuth2Server({
    model: model(), authorizationCodeLifetime: 60, accessTokenLifetime: 60, allowEmptyState: false
  })
  const server = createServer((request, response) => {
    answer(oauth, request, adapted).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      (error: unknown) => response.destroy(error as Error)
    )
  })
  return listen(t, server)
}

interface Answer { status: number, headers: Record<string, string>, body: string }

async function answer (oauth: OAuth2Server, raw: IncomingMessage, adapted: boolean): Promise<Answer> {
  const { pathname, searchParams } = new URL(raw.url as string, 'http://x')
  if (adapted && searchParams.get('scope') === '') searchParams.delete('scope')
  const chunks: Buffer[] = []
  for await (const chunk of raw) chunks.push(chunk as Buffer)
  const body = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
  const request = new OAuth2Server.Request({
    method: raw.method as string,
    headers: raw.headers as Record<string, string>,
    query: Object.fromEntries(searchParams),
    body
  })
  const response = new OAuth2Server.Response()
  try {
    if (pathname === '/oauth/authorize') {
      const location = `/login?return_to=${encodeURIComponent(raw.url as string)}`
      if (!loggedIn(raw)) return { status: 302, headers: { location }, body: '' }
      await oauth.authorize(request, response, { authenticateHandler: { handle: () => ({ id: 'u-1' }) } })
    } else if (pathname === '/oauth/token') {
      await oauth.token(request, response)
    } else if (pathname === '/oauth/user') {
      const token = await oauth.authenticate(request, response)
      tokens.delete(token.accessToken)
      response.body = RECORDS.ada
    } else {
      const headers = { 'content-type': 'text/html' }
      return { status: pathname === '/login' ? 200 : 404, headers, body: '<!doctype html><title>Log in</title>' }
    }
  } catch (error) {
    const { code = 500, name, message } = error as { code?: number, name: string, message: string }
    const body = { error: name, error_description: message }
    if (response.headers?.location === undefined) Object.assign(response, { status: code, body })
  }
  const { status = 500, headers = {} } = response
  if (headers.location !== undefined) return { status, headers, body: '' }
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(response.body) }
}

const codes = new Map<string, OAuth2Server.AuthorizationCode>()
const tokens = new Map<string, OAuth2Server.Token>()

function model (): OAuth2Server.AuthorizationCodeModel {
  const portal = { id: CLIENT_ID, grants: ['authorization_code'], redirectUris: [REDIRECT_URI] }
  return {
    getClient: async (id, secret) =>
      id === CLIENT_ID && [null, undefined, FOREIGN_SECRET].includes(secret) ? portal : false,
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
}

async function listen (t: Teardown, server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
