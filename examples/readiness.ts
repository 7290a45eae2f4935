// GET /ready for the load balancer, and a stop that fails no sign-in. Call it before the plugin is registered: its hook
// must run for all routes.
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import 'fastify-partner-sso'

export interface ReadinessOptions {
  /** Milliseconds in which the balancer must find out that the app stops. Default: 15,000. */
  notice?: number
  /**
   * Whether GET /ready is 503 also while the store is lost. Default: false. Behind one balancer for the whole app it
   * would take your other pages down with the sign-ins, and a person who signs in would get the balancer's 503 instead
   * of the way back to the portal. Set it where the three routes have a backend of their own, and other processes of
   * it may still reach their store.
   */
  needsStore?: boolean
}

/**
 * Adds GET /ready: 200, or 503 once the app stops.
 *
 * SIGTERM (or SIGINT, which PM2 sends) stops the app: /ready is 503 from then on, and the app goes on serving for
 * `notice` milliseconds. Each response ends its connection meanwhile: who keeps connections alive opens the next one
 * elsewhere. Then the app closes, after the requests that are under way, and the process ends.
 */
export function addReadiness (app: FastifyInstance, options: ReadinessOptions = {}): void {
  const { notice = 15_000, needsStore = false } = options
  let stopping = false
  app.addHook('onSend', async (_request, reply) => {
    if (stopping) reply.header('connection', 'close')
  })
  app.get('/ready', async (_request, reply) => {
    const ready = !stopping && (!needsStore || await app.partnerSso.ready())
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
