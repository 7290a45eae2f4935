// A strict TypeScript host of CommonJS, by `import` and by `require`.
import Fastify from 'fastify'
import partnerSso, { partnerSso as named, UserInformation } from 'fastify-partner-sso'
import required = require('fastify-partner-sso')
import { portal } from 'fastify-partner-sso/testing'
import testing = require('fastify-partner-sso/testing')

const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}
const record = (id: string): UserInformation => ({
  external_id: id,
  email: 'a@b.example',
  name: 'A',
  type: 'partner',
  control_role: 'Partner Read Only',
  product_role: 'Product Operator'
})

async function main (): Promise<void> {
  const app = Fastify()
  app.register(required, {
    portal: integration,
    currentUser: ({ headers: { 'x-user': id } }) => id ?? null,
    portalEligibility: (id: string) => record(id)
  })
  app.register(partnerSso<{ id: string }>, {
    prefix: '/imported',
    portal: integration,
    currentUser: ({ headers: { 'x-user': id } }) => typeof id === 'string' ? { id } : null,
    portalEligibility: ({ id }) => record(id)
  })
  const result = await testing.portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } })
  await app.close()
  if (named !== partnerSso || required !== partnerSso || portal !== testing.portal) throw new Error('Two copies')
  if (UserInformation.anyOf.length !== 2) throw new Error('A named export is missing')
  console.log(JSON.stringify(result.ok ? result.record.external_id : result))
}

void main()
