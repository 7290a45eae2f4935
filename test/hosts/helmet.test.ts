// @fastify/helmet for the whole app. Its headers stay on the host's routes; the authorization endpoint has its own.
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

for (const order of ['prepare', 'finish']) {
  t.test(order === 'prepare' ? 'registered before' : 'registered after', async (t) => {
    const { url } = await startHost(t, {}, {
      [order]: async (app: FastifyInstance) => {
        await app.register(helmet, {
          global: true, frameguard: { action: 'sameorigin' }, referrerPolicy: { policy: 'unsafe-url' }
        })
        app.get('/own', async () => 'own')
      }
    })
    await keepsContract(t, wire(url))

    const { headers } = await wire(url).send('/own')
    t.match(headers.get('content-security-policy'), /^default-src 'self';/)
    t.equal(headers.get('x-frame-options'), 'SAMEORIGIN')
    t.equal(headers.get('referrer-policy'), 'unsafe-url')
  })
}

t.test('the rest of what helmet sets is on our answers too', async (t) => {
  const { url } = await startHost(t, {}, { prepare: (app) => app.register(helmet) })
  const { headers } = await wire(url).authorize()
  t.equal(headers.get('x-content-type-options'), 'nosniff')
  t.match(headers.get('strict-transport-security'), /^max-age=/)
})
