// Identity providers on a site of their own, each with a page to log in that looks like the one of the examples.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import samlify from 'samlify'
import type { Test } from 'tap'
import { users, userWith } from '../../examples/users.ts'
import { httpServer } from './listen.ts'
import { SAML_CERTIFICATE, SAML_KEY } from './saml-certificate.ts'

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

/** What the tests know of a SAML provider. */
export interface SamlIdentityProvider {
  origin: string
  /** Where an AuthnRequest is sent. */
  entryPoint: string
  /** A signed response to the request with this ID. */
  respond (inResponseTo: string, user: string): Promise<string>
}

/** SAML, by samlify, for the service provider `entityId`, whose assertion consumer service is `action`. */
export async function samlProvider (t: Test, entityId: string, action: string): Promise<SamlIdentityProvider> {
  // It checks the form of XML by a Java program, if it is there. The library that reads the responses is under test.
  samlify.setSchemaValidator({ validate: async () => 'not validated' })
  const service = samlify.ServiceProvider({
    entityID: entityId,
    wantMessageSigned: true,
    wantAssertionsSigned: true,
    assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: action }]
  })

  /** Of the request with this ID; undefined for an ID that no request has. */
  const respond: SamlIdentityProvider['respond'] = async (inResponseTo, user) => {
    const request = { extract: { request: { id: inResponseTo } } }
    const { context } = await identity.createLoginResponse(service, request, 'post', {}, (template: string) => {
      const id = `_${randomUUID()}`
      const context = samlify.SamlLib.replaceTagsByValue(template, {
        ID: id,
        AssertionID: `_${randomUUID()}`,
        Destination: action,
        Audience: entityId,
        EntityID: entityId,
        SubjectRecipient: action,
        AssertionConsumerServiceURL: action,
        Issuer: origin,
        IssueInstant: new Date().toISOString(),
        ConditionsNotBefore: new Date(Date.now() - 1000).toISOString(),
        ConditionsNotOnOrAfter: new Date(Date.now() + 60_000).toISOString(),
        SubjectConfirmationDataNotOnOrAfter: new Date(Date.now() + 60_000).toISOString(),
        StatusCode: samlify.Constants.StatusCode.Success,
        NameIDFormat: samlify.Constants.namespace.format.unspecified,
        NameID: user,
        InResponseTo: inResponseTo,
        AuthnStatement: '',
        AttributeStatement: ''
      })
      return { id, context }
    })
    return context
  }

  const origin = await httpServer(t, async (request, response) => {
    const user = await askUser(request, response)
    if (user === undefined) return
    const query = Object.fromEntries(new URL(request.url as string, origin).searchParams)
    const { extract } = await identity.parseLoginRequest(service, 'redirect', { query })
    const assertion = await respond(String(extract.request?.id), user)
    const form = `<form method="post" action="${action}"><input name="SAMLResponse" value="${assertion}"></form>`
    response.setHeader('content-type', 'text/html').end(sending(form))
  })
  const identity = samlify.IdentityProvider({
    entityID: origin,
    privateKey: SAML_KEY,
    signingCert: SAML_CERTIFICATE,
    messageSigningOrder: 'encrypt-then-sign',
    singleSignOnService: [{ Binding: samlify.Constants.namespace.binding.redirect, Location: `${origin}/sso` }]
  })
  return { origin, entryPoint: `${origin}/sso`, respond }
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
