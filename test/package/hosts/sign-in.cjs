// Registers the plugin, and signs in with the portal double, in the same process or by a port: returns who signed in.
const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}

exports.signIn = async function signIn (Fastify, partnerSso, portal, isInProcess = true) {
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
  const way = isInProcess ? { app } : { baseUrl: await app.listen({ port: 0, host: '127.0.0.1' }) }
  const result = await portal({ ...way, ...integration }).signIn({ headers: { 'x-user': 'alice' } })
  await app.close()
  return result.ok ? result.record.external_id : result
}
