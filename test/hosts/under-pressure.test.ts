// @fastify/under-pressure. A host under pressure turns our requests away as it does all others.
import underPressure from '@fastify/under-pressure'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isPrivate } from '../contract/replies.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('a host that is well, and one that is not', async (t) => {
  let healthy = true
  const { url, app } = await startHost(t, {}, {
    prepare: (app) => app.register(underPressure, {
      healthCheck: async () => healthy, healthCheckInterval: 10, retryAfter: 7
    })
  })
  const portal = wire(url)
  await keepsContract(t, portal)
  const code = await portal.code()

  healthy = false
  while (!app.isUnderPressure()) await setTimeout(5)
  for (const answer of [await portal.authorize(), await portal.token({ code }), await portal.user('x')]) {
    t.equal(answer.status, 503)
    const reason = 'Service Unavailable'
    t.strictSame(answer.json, { statusCode: 503, code: 'FST_UNDER_PRESSURE', error: reason, message: reason })
    t.equal(answer.headers.get('retry-after'), '7')
    isPrivate(t, answer)
  }

  healthy = true
  while (app.isUnderPressure()) await setTimeout(5)
  t.equal((await portal.token({ code })).status, 200, 'what the host turned away used nothing up')
})
