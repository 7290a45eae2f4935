// A certified server that we did not write, over HTTP: what differs from the RFCs is found, nothing else.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import t from 'tap'
import type { Test } from 'tap'
import { listen } from '../helpers/listen.ts'
import { failedRules, program } from '../helpers/program.ts'
import { CLIENT_ID, RECORDS, REDIRECT_URI } from '../helpers/service.ts'

/** The context of Koa, on which oidc-provider is built. */
type Context = Record<string, any>
type Next = () => Promise<void>

/** oidc-provider keeps to the characters that RFC 6749 appendix A.2 allows. */
const SECRET = 'a secret of the portal'

/**
 * `oidc-provider` at the paths of this plugin, with a login that reads the cookie `sid`, and a user endpoint. It grants
 * nothing where no scope is requested; `adapted` adds the scope openid to the request.
 */
async function serve (t: Test, adapted: boolean): Promise<string> {
  const server = createServer()
  const base = `http://127.0.0.1:${await listen(t, server)}`
  const provider = new Provider(base, {
    clients: [{
      client_id: CLIENT_ID,
      client_secret: SECRET,
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
  provider.use(async (context: Context, next: Next) => {
    if (adapted && context.path === '/oauth/authorize') context.url = context.url.replace('&scope=', '&scope=openid')
    if (context.path.startsWith('/interaction/')) return await interaction(provider, context)
    if (context.path === '/oauth/user') return await user(provider, context)
    await next()
  })
  server.on('request', provider.callback())
  return base
}

async function interaction (provider: any, context: Context): Promise<void> {
  if (context.get('cookie').includes('sid=ada')) {
    context.respond = false
    return provider.interactionFinished(context.req, context.res, { login: { accountId: 'u-1' } })
  }
  context.status = 200
  context.body = '<!doctype html><title>Log in</title><form method=post></form>'
}

const used = new Set<string>()

async function user (provider: any, context: Context): Promise<void> {
  const value = /^bearer (.+)$/i.exec(context.get('authorization'))?.[1] ?? ''
  const isUsed = used.has(value)
  used.add(value)
  const token = isUsed ? undefined : await provider.AccessToken.find(value)
  context.set('cache-control', 'no-store')
  if (token === undefined) context.set('www-authenticate', 'Bearer error="invalid_token"')
  context.status = token === undefined ? 401 : 200
  context.body = token === undefined ? { error: 'invalid_token' } : RECORDS.ada
}

async function checked (t: Test, adapted: boolean) {
  const base = await serve(t, adapted)
  const argv = ['check', '--json', '--base-url', base, '--client-id', CLIENT_ID, '--redirect-uri', REDIRECT_URI,
    '--cookie', 'sid=ada; Path=/; HttpOnly; SameSite=Lax', '--timeout', '60']
  const { code, out } = await program(argv, { env: { PORTAL_CLIENT_SECRET: SECRET } })
  return { code, report: JSON.parse(out) }
}

await t.test('with a scope', async (t) => {
  const { code, report } = await checked(t, true)
  t.equal(code, 1)
  t.strictSame(failedRules(report), [
    '?login.framing', '!authorize.missing-redirect-uri', '?authorize.state-needed', '?authorize.head',
    '?authorize.referrer', '?authorize.framing', '!token.missing-redirect-uri', '?token.client-challenge',
    '?token.earlier-code', '?token.failed-proof', '?user.head', '?user.other-places'
  ])
})

await t.test('the unchanged provider refuses the user: nothing more can be judged', async (t) => {
  const { code, report } = await checked(t, false)
  t.equal(code, 2)
  t.match(report.stopped, /access_denied/)
})
