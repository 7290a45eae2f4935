// Fastify's handlerTimeout ends while a handler of ours waits: the browser has its response, and when the handler goes
// on, it calls nothing more of the host or of the store, and no event says `ok`.
import t from 'tap'
import type { Test } from 'tap'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { clockOf, turns } from '../clock.ts'
import { isPrivate } from '../contract/replies.ts'
import { Fastify } from '../helpers/fastify.ts'
import { neverIssued } from '../helpers/never-issued.ts'
import { pluginOptions, PORTAL, startApp } from '../app.ts'
import { injecting, wire } from '../wire.ts'
import type { Fetch, WireResponse, Wire } from '../wire.ts'

const LIMIT = { handlerTimeout: 50 }
/** Older versions of Fastify 5 have no such option. */
const isSupported = 'handlerTimeout' in Fastify().initialConfig

/**
 * Two hosts on one store. In the one with a time limit, calls of the name `waits` wait until `open` is called, and the
 * limit passes meanwhile: not before, as it would by chance on a busy machine. Where `opensEarly`, a hook of the host
 * calls it before Fastify has sent its response: `reply.sent` is still false then.
 */
async function scene (t: Test, waits: string, opensEarly: boolean) {
  const clock = clockOf(t)
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  // At its start the app calls the store: that call does not wait.
  let isStarted = false
  const called: string[] = []
  const inTime = <T extends unknown[], R>(name: string, call: (...given: T) => R | Promise<R>) =>
    async (...given: T): Promise<R> => {
      called.push(name)
      if (isStarted && name === waits) {
        setImmediate(() => clock.pass(LIMIT.handlerTimeout))
        await opened
      }
      return await call(...given)
    }
  const { currentUser, portalEligibility } = pluginOptions()
  const store = new MemoryStore(100)
  const ofApp = waits === 'currentUser'
  const { app, url, events } = await clock.run(() => startApp(t, {
    options: {
      ...ofApp ? {} : { routeOptions: LIMIT },
      currentUser: inTime('currentUser', currentUser),
      portalEligibility: inTime('portalEligibility', portalEligibility),
      portal: inTime('portal', () => PORTAL),
      store: {
        put: inTime('put', store.put.bind(store)),
        take: inTime('take', store.take.bind(store)),
        revoke: store.revoke.bind(store)
      }
    },
    server: ofApp ? LIMIT : {},
    prepare (app) {
      app.setErrorHandler((error: Error & { code?: string }, _request, reply) =>
        reply.code(503).send({ problem: error.code }))
      app.addHook('preHandler', inTime('preHandler', () => {}))
      app.addHook('onSend', async () => {
        if (!opensEarly) return
        open()
        await turns()
      })
    }
  }))
  // Over a socket Fastify's limit ends with the body of the request (fastify#6725): this way is for POST.
  const inject: Fetch = (url, init) => clock.run(() => injecting(app)(url, init))
  // Without a limit.
  const twin = wire((await startApp(t, { options: { store } })).url)
  const issued = { code: await twin.code(), token: await twin.accessToken() }
  isStarted = true
  called.length = 0
  return { inject, url, events, issued, open, called }
}

type Send = (portal: Wire, issued: { code: string, token: string }) => Promise<WireResponse>

const authorize: Send = (portal) => portal.authorize()
const redeem: Send = (portal, { code }) => portal.token({ code })
const user: Send = (portal, { token }) => portal.user(token)

const cases: Record<string, [waits: string, request: Send]> = {
  currentUser: ['currentUser', authorize],
  portalEligibility: ['portalEligibility', authorize],
  'the portal function': ['portal', user],
  'the portal function that authenticates': ['portal', redeem],
  'the store of a code': ['put', authorize],
  'the store of a token': ['put', redeem],
  'the store that redeems a token': ['take', user],
  'the store that has no such token': ['take', (portal) => portal.user(neverIssued().token)],
  'a hook before the handler': ['preHandler', user]
}

for (const [name, [waits, request]] of isSupported ? Object.entries(cases) : []) {
  for (const opensEarly of [false, true]) {
    const until = opensEarly ? 'until the response is being sent' : 'until the response was sent'
    t.test(`${name} waits ${until}`, async (t) => {
      const { inject, url, events, issued, open, called } = await scene(t, waits, opensEarly)
      const portal = request === redeem ? wire(url, PORTAL, { fetch: inject }) : wire(url)
      const response = await request(portal, issued)
      t.strictSame([response.status, response.json], [503, { problem: 'FST_ERR_HANDLER_TIMEOUT' }])
      isPrivate(t, response)
      open()
      // Until the handler has gone on to its end.
      await turns()
      t.strictSame(events, [])
      t.equal(called.at(-1), waits, 'nothing is called after what has waited')
    })
  }
}
