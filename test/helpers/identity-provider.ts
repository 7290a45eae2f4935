// Identity providers on an origin and a site of their own, each with a page to log in.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import type { Test } from 'tap'
import { users } from '../../examples/users.ts'
import { httpServer } from './raw-server.ts'

/** Looks like the login of the examples, so that the tests walk through it in the same way. */
function page (field: string, action = ''): string {
  const buttons = users.map(({ id, name }) => `<button name="${field}" value="${id}">${name}</button>`)
  return `<!doctype html><html lang="en"><title>Log in</title><link rel="icon" href="data:,">
<h1>Log in to Acme Payments</h1><form method="post" action="${action}">${buttons.join('')}</form></html>`
}

/** Sends each user back by POST, as SAML does. Its assertion is not signed. */
export async function samlProvider (t: Test, action: string): Promise<string> {
  return await httpServer(t, (_request, response) => {
    response.setHeader('content-type', 'text/html').end(page('SAMLResponse', action))
  })
}

/** OpenID Connect, by oidc-provider. */
export async function openidProvider (t: Test, redirectUri: string, secret: string): Promise<string> {
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
  const issuer = await httpServer(t, (request, response) => { handle(request, response) })
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'acme', client_secret: secret, redirect_uris: [redirectUri] }],
    features: { devInteractions: { enabled: false } },
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
  const callback = provider.callback()
  handle = async (request, response) => {
    if (!String(request.url).startsWith('/interaction/')) callback(request, response)
    else if (request.method === 'GET') response.setHeader('content-type', 'text/html').end(page('user'))
    else await finish(provider, request, response)
  }
  return issuer
}

async function finish (provider: any, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [body] = await request.setEncoding('utf8').toArray() as [string]
  const accountId = new URLSearchParams(body).get('user')
  await provider.interactionFinished(request, response, { login: { accountId } })
}
