// Identity providers on a site of their own, each with a page to log in that looks like the one of the examples.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import type { Test } from 'tap'
import type { SamlProvider } from '../../examples/logins/saml.ts'
import { users, userWith } from '../../examples/users.ts'
import { httpServer } from './listen.ts'

const HEAD = '<!doctype html><html lang="en"><title>Log in</title><link rel="icon" href="data:,">'

function page (): string {
  const buttons = users.map(({ id, name }) => `<button name="user" value="${id}">${name}</button>`)
  return `${HEAD}<h1>Log in to Acme Payments</h1>
<form method="post">${buttons.join('')}</form></html>`
}

/** Shows the page, until a user is chosen. */
async function askUser (request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
  const body = new URLSearchParams(String(await request.setEncoding('utf8').toArray()))
  const user = userWith(body.get('user'))
  if (user === null) response.setHeader('content-type', 'text/html').end(page())
  return user?.id
}

/** A page that sends a form by itself. */
const sending = (form: string): string => `${HEAD}${form}<script>document.forms[0].submit()</script></html>`

/** Sends each user back to `action` by POST, as SAML does. Its assertion is not signed. */
export async function samlProvider (t: Test, action: string): Promise<SamlProvider & { origin: string }> {
  const origin = await httpServer(t, async (request, response) => {
    const user = await askUser(request, response)
    const id = new URL(request.url as string, 'http://host').searchParams.get('id')
    if (user === undefined) return
    const form = `<form method="post" action="${action}"><input name="SAMLResponse" value="${id} ${user}"></form>`
    response.setHeader('content-type', 'text/html').end(sending(form))
  })
  return {
    origin,
    requestUrl: async (id) => `${origin}/?id=${id}`,
    async verify (response) {
      const [inResponseTo = '', user = ''] = response.split(' ')
      return { user, inResponseTo }
    }
  }
}

/** OpenID Connect, by oidc-provider. */
export async function openidProvider (t: Test, redirectUri: string, secret: string): Promise<string> {
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
  const issuer = await httpServer(t, (request, response) => { handle(request, response) })
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'acme',
      client_secret: secret,
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [new URL('/', redirectUri).href]
    }],
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        logoutSource: (context: { body: string }, form: string) => {
          context.body = sending(form.replace('</form>', '<input name="logout" value="yes"></form>'))
        }
      }
    },
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
    if (!String(request.url).startsWith('/interaction/')) return await callback(request, response)
    const accountId = await askUser(request, response)
    if (accountId !== undefined) await provider.interactionFinished(request, response, { login: { accountId } })
  }
  return issuer
}
