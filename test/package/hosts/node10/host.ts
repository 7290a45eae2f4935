// Compiled to CommonJS by a project that resolves modules as Node 10 did.
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import type { PartnerSsoOptions } from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import type { PortalDouble } from 'fastify-partner-sso/testing'

const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}
const options: PartnerSsoOptions<string> = {
  portal: integration,
  currentUser: ({ headers: { 'x-user': id } }) => typeof id === 'string' ? id : null,
  portalEligibility: (id) => ({
    external_id: id,
    email: 'a@b.example',
    name: 'A',
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  })
}

async function main (): Promise<void> {
  const app = Fastify()
  app.register(partnerSso<string>, options)
  const double: PortalDouble = portal({ app, ...integration })
  const result = await double.signIn({ headers: { 'x-user': 'alice' } })
  await app.close()
  console.log(result.ok ? result.record.external_id : result)
}

main()
