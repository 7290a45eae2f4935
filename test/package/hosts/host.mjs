// An ES module host: registers the plugin and lets the portal double sign in.
import Fastify from 'fastify'
import partnerSso, { partnerSso as named, UserInformation } from 'fastify-partner-sso'
import { portal } from 'fastify-partner-sso/testing'
import { createRequire } from 'node:module'

if (named !== partnerSso || UserInformation.anyOf.length !== 2) throw new Error('A named export is missing')

const app = Fastify()
const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}
await app.register(partnerSso, {
  portal: integration,
  currentUser: ({ headers }) => headers['x-user'] ?? null,
  portalEligibility: (id) => ({
    external_id: id,
    email: 'a@b.example',
    name: 'A',
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  })
})
const result = await portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } })
await app.close()

const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('ioredis'))
if (loaded.length > 0) throw new Error('ioredis is loaded though no Redis is used')
console.log(JSON.stringify(result.ok ? result.record.external_id : result))
