// @fastify/cors for the whole app, in its ways of naming origins. No page of another origin may read our answers.
import cors from '@fastify/cors'
import type { FastifyCorsOptions } from '@fastify/cors'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isGuarded, isPrivate } from '../contract/replies.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const ORIGIN = 'https://elsewhere.example'
const settings: Record<string, FastifyCorsOptions> = {
  'any origin': {},
  'the origin that asks, with credentials': {
    origin: true, credentials: true, exposedHeaders: ['x-total'], maxAge: 60
  },
  'a list that the origin is not in': {
    origin: ['https://other.example'], credentials: true, exposedHeaders: ['x-total']
  },
  'late, from a handler hook': { origin: ORIGIN, hook: 'preHandler', credentials: true }
}

for (const [name, options] of Object.entries(settings)) {
  t.test(name, async (t) => {
    const { url } = await startHost(t, {}, {
      async prepare (app) {
        await app.register(cors, options)
        app.get('/own', async () => 'own')
      }
    })
    const portal = wire(url)
    await keepsContract(t, portal)

    const headers = { origin: ORIGIN }
    isGuarded(t, await portal.authorize({}, 'alice', headers))
    isPrivate(t, await portal.authorize({ client_id: 'unknown' }, 'alice', headers))
    isPrivate(t, await portal.token({ code: await portal.code() }, headers))
    isPrivate(t, await portal.token({}, headers))
    isPrivate(t, await portal.user(await portal.accessToken(), headers))
    isPrivate(t, await portal.user(undefined, headers))

    const own = await portal.send('/own', { headers })
    t.ok([...own.headers.keys()].some((name) => name.startsWith('access-control-')), 'the host keeps its own')
  })
}

t.test('middleware, which knows of Node only', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.addHook('onRequest', async (_request, { raw }) => {
        raw.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Allow-Headers', '*')
      })
    }
  })
  await keepsContract(t, wire(url))
})
