// GET /ready for the load balancer, and a stop that fails no sign-in. Call it before the plugin is registered: its hook
// must run for all routes.
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import 'fastify-partner-sso'

/**
 * Adds GET /ready: 200, or 503 while no sign-in can be served.
 *
 * SIGTERM (or SIGINT, which PM2 sends) stops the app: /ready is 503 from then on, and the app goes on serving for
 * `notice` milliseconds, in which the balancer must find out. Each response ends its connection meanwhile: who keeps
 * connections alive opens the next one elsewhere. Then the app closes, after the requests that are under way, and the
 * process ends.
 */
export function addReadiness (app: FastifyInstance, notice = 15_000): void {
  let stopping = false
  app.addHook('onSend', async (_request, reply) => {
    if (stopping) reply.header('connection', 'close')
  })
  app.get('/ready', async (_request, reply) => {
    const ready = !stopping && await app.partnerSso.ready()
    return reply.code(ready ? 200 : 503).send({ ready })
  })
  const stop = async (): Promise<void> => {
    if (stopping) return
    stopping = true
    await wait(notice)
    await app.close()
    // PM2's channel to its workers would keep the process until it is killed.
    process.exit()
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => { stop().catch(console.error) })
}
