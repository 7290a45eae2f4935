// A host in a process of its own, forked with the plugin's options as JSON. It sends its URL.
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'

const app = Fastify()
await app.register(partnerSso, {
  ...JSON.parse(process.argv[2]),
  currentUser: ({ headers: { 'x-user': id } }) => id,
  portalEligibility: (id) => ({
    external_id: id,
    email: `${id}@partner.example`,
    name: `Name of ${id}`,
    type: 'partner',
    control_role: 'Partner Read Only',
    product_role: 'Product Operator'
  })
})

// Nobody is left who needs it.
process.on('disconnect', () => process.exit())
process.send({ url: await app.listen({ port: 0, host: '127.0.0.1' }) })
