// The app that the tests of each runner sign in to: the user is named in a header.
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'

export const integration = {
  clientId: 'partner-123',
  clientSecret: 'the secret of the test settings',
  redirectUri: 'https://portal.example/oauth/callback'
}

export async function buildApp () {
  const app = Fastify()
  await app.register(partnerSso, {
    portal: { ...integration, loginUrl: 'https://portal.example/external-oauth/1' },
    currentUser: ({ headers }) => headers['x-user'] ?? null,
    portalEligibility: (id) => ({
      external_id: id,
      email: `${id}@partner.example`,
      name: 'Ada',
      type: 'partner',
      control_role: 'Partner Read Only',
      product_role: 'Product Operator'
    })
  })
  return app
}
