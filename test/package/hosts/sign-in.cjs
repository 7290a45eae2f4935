// Registers the plugin, and signs in with the portal double: prints who has signed in.
const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}

exports.signIn = async function signIn (Fastify, partnerSso, portal) {
  const app = Fastify()
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
