// Fastify 5.0.0 and 5.11.3, in which `reply.removeHeader` leaves what middleware set on Node's response.
import Fastify, { type FastifyInstance } from 'fastify'
import Fastify50 from 'fastify-5.0'
import Fastify511 from 'fastify-5.11'
import t from 'tap'
import partnerSso, { type PartnerSsoEvent } from '../../lib/index.ts'
import { isPrivate, keepsContract } from '../helpers/contract.ts'
import { hostOptions } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const versions = { '5.0.0': Fastify50, '5.11.3': Fastify511, latest: Fastify } as unknown as
  Record<string, typeof Fastify>

for (const [version, create] of Object.entries(versions)) {
  t.test(version, async (t) => {
    const app = create() as FastifyInstance
    t.teardown(() => app.close())
    if (version !== 'latest') t.equal(app.version, version)
    app.addHook('onRequest', async (_request, { raw }) => {
      raw.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Expose-Headers', '*')
      raw.setHeader('ETag', '"1"').setHeader('Content-Security-Policy', "default-src 'self'")
      raw.setHeader('Cache-Control', 'public, max-age=60')
    })
    const events: PartnerSsoEvent[] = []
    await app.register(partnerSso, hostOptions({ onEvent: (event) => { events.push(event) } }))
    const portal = wire(await app.listen({ port: 0, host: '127.0.0.1' }))
    await keepsContract(t, portal)

    const page = await portal.authorize({ client_id: 'x' }, null, { accept: 'text/html' })
    for (const answer of [page, await portal.authorize(), await portal.token(), await portal.user(undefined)]) {
      isPrivate(t, answer)
      t.notOk(answer.headers.has('etag'))
    }
    t.ok(events.length > 0)
  })
}
