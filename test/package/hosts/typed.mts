// A strict TypeScript host, compiled as an ES module and as CommonJS. Each loads by `import` and by `require`.
import Fastify from 'fastify'
import partnerSso, {
  type PartnerSsoEvent, type Portal, partnerSso as named, type Store, UserInformation
} from 'fastify-partner-sso'
import required = require('fastify-partner-sso')
import { portal } from 'fastify-partner-sso/testing'
import testing = require('fastify-partner-sso/testing')

interface User { id: string, client?: number }

export const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
} satisfies Portal
export const events: PartnerSsoEvent[] = []
export type Own = Store

function record ({ id, client }: User): UserInformation {
  const person = { external_id: id, email: 'a@b.example', name: 'A', product_role: 'Product Operator' } as const
  return client === undefined
    ? { ...person, type: 'partner', control_role: 'Partner Read Only' }
    : { ...person, type: 'client', control_role: 'Client Read Only', client_id: client }
}

async function main (): Promise<void> {
  const app = Fastify({ logger: false })
  app.register(partnerSso<User>, {
    portal: integration,
    currentUser: ({ headers: { 'x-user': id } }) => typeof id === 'string' ? { id } : null,
    portalEligibility: (user) => record(user),
    onEvent: (event) => { events.push(event) }
  })
  app.register(required.default, {
    prefix: '/required',
    portal: integration,
    currentUser: ({ headers: { 'x-user': id } }) => id ?? null,
    portalEligibility: (id: string) => record({ id })
  })
  const result = await testing.portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } })
  await app.close()
  const copies = new Set([partnerSso, named, required.default])
  if (copies.size !== 1 || portal !== testing.portal) throw new Error('Two copies')
  if (UserInformation.anyOf.length !== 2) throw new Error('A named export is missing')
  console.log(result.ok ? result.record.external_id : result)
}

void main()
