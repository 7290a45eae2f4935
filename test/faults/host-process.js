// A host in a process of its own, forked with the plugin's options as JSON. It sends its URL, and when it is asked what
// memory it holds.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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
app.get('/ready', async (_request, reply) => reply.code(await app.partnerSso.ready() ? 204 : 503).send())

process.on('message', () => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  process.send({ heapUsed: process.memoryUsage().heapUsed })
})
// Nobody is left who needs it.
process.on('disconnect', () => process.exit())
process.send({ url: await app.listen({ port: 0, host: '127.0.0.1' }) })
