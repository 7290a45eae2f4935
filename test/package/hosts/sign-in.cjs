// Registers the plugin, and plays the portal against it by the double, in the same process or by a port.
const integration = {
  loginUrl: 'https://portal.example/external-oauth/1',
  clientId: 'p',
  clientSecret: 's',
  redirectUri: 'https://portal.example/cb'
}

/** Calls `use` with the double, which is closed afterwards. */
async function withDouble (Fastify, partnerSso, portal, isInProcess, use) {
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
  const result = await use(portal({ ...way, ...integration }))
  await app.close()
  return result
}

const user = { headers: { 'x-user': 'alice' } }

/** Who signed in. */
exports.signIn = (Fastify, partnerSso, portal, isInProcess = true) =>
  withDouble(Fastify, partnerSso, portal, isInProcess, async (double) => {
    const result = await double.signIn(user)
    return result.ok ? result.record.external_id : result
  })

/** The rules that fail. */
exports.check = (Fastify, partnerSso, portal, isInProcess = true) =>
  withDouble(Fastify, partnerSso, portal, isInProcess, async (double) => {
    const { ok, rules } = await double.check({ user })
    return ok ? [] : rules.filter(({ outcome }) => outcome === 'fail')
  })
