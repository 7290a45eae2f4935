// A CommonJS host: `require()` gives the plugin itself.
const Fastify = require('fastify')
const partnerSso = require('fastify-partner-sso')
const { portal } = require('fastify-partner-sso/testing')

if (typeof partnerSso !== 'function') throw new Error('require() gives no function')
for (const name of ['default', 'partnerSso']) {
  if (partnerSso[name] !== partnerSso) throw new Error(`The export ${name} is missing`)
}

async function main () {
  const app = Fastify()
  const integration = {
    loginUrl: 'https://portal.example/external-oauth/1',
    clientId: 'p',
    clientSecret: 's',
    redirectUri: 'https://portal.example/cb'
  }
  app.register(partnerSso, {
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
  console.log(JSON.stringify(result.ok ? result.record.external_id : result))
}

main()
