// A strict TypeScript host of CommonJS, by `require`.
import Fastify = require('fastify')
import partnerSso = require('fastify-partner-sso')
import testing = require('fastify-partner-sso/testing')

const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}
const app = Fastify()
app.register(partnerSso, {
  portal: integration,
  currentUser: ({ headers: { 'x-user': id } }) => id ?? null,
  portalEligibility: (id: string) => ({
    external_id: id,
    email: 'a@b.example',
    name: 'A',
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  })
})
testing.portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } }).then(async (result) => {
  await app.close()
  console.log(JSON.stringify(result.ok ? result.record.external_id : result))
})
