// Fastify's handlerTimeout, of the app and of our routes: a hook of the host that hangs does not hang the browser. Over
// sockets, as inject() hides that the limit has no effect once a body was read.
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Store } from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isPrivate } from '../contract/replies.ts'
import { hostOptions, PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('a limit that is not reached', async (t) => {
  const { url } = await startHost(t, {}, { server: { handlerTimeout: 5000 } })
  await keepsContract(t, wire(url))
})

/** An error handler of the host that shows the code of the error. */
const showCode = (app: FastifyInstance) =>
  app.setErrorHandler((error: Error & { code?: string }, _request, reply) =>
    reply.code(503).send({ problem: error.code }))

const limits = [['of the app', { handlerTimeout: 50 }, {}], ['of our routes', {}, { handlerTimeout: 50 }]] as const

for (const [whose, server, routeOptions] of limits) {
  for (const hook of ['currentUser', 'portalEligibility'] as const) {
    t.test(`a limit ${whose} that ${hook} reaches`, async (t) => {
      let late: Promise<unknown> = Promise.resolve()
      const { url, events } = await startHost(t, {
        routeOptions,
        async [hook] (user: never, context: never) {
          late = setTimeout(150)
          await late
          return await hostOptions()[hook](user, context)
        }
      }, { server, prepare: showCode })
      const answer = await wire(url).authorize()
      t.equal(answer.status, 503)
      t.strictSame(answer.json, { problem: 'FST_ERR_HANDLER_TIMEOUT' })
      isPrivate(t, answer)
      await late
      await setTimeout(20)
      t.strictSame(events, [], 'nothing is issued to a browser that is gone')
    })
  }
}

t.test('a limit that is over while the store still works', async (t) => {
  const records = new Map<string, string>()
  // What the store waits for before it answers, and the calls that wait.
  let held = Promise.resolve()
  const calls: Array<Promise<unknown>> = []
  const slow = async <T>(result: T): Promise<T> => await held.then(() => result)
  const noted = <T>(call: Promise<T>): Promise<T> => {
    calls.push(call)
    return call
  }
  const store: Store = {
    put: (key, value) => noted(slow(true).then((done) => { records.set(key, value); return done })),
    take (key) {
      const value = records.get(key) ?? null
      records.delete(key)
      return noted(slow(value))
    },
    async revoke () { return false }
  }
  const options = { routeOptions: { handlerTimeout: 60 }, store, storeTimeout: 30_000 }
  const { app, url, events } = await startHost(t, options, { prepare: showCode })
  // Its twin without a limit issues what is used: no busy machine is too slow for that.
  const twin = wire((await startHost(t, { store })).url)
  const portal = wire(url)
  const [code, other, token] = [await twin.code(), await twin.code(), await twin.accessToken()]
  calls.length = 0
  let release = (): void => {}
  held = new Promise((resolve) => { release = resolve })
  for (const answer of [await portal.authorize(), await portal.user(token)]) {
    t.equal(answer.status, 503)
    t.strictSame(answer.json, { problem: 'FST_ERR_HANDLER_TIMEOUT' })
  }
  release()
  t.equal((await Promise.all(calls)).length, 2, 'the store has responded to both')
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.strictSame(events, [], 'nothing is reported that did not arrive')

  // Over a socket Fastify's limit ends with the body of the request (fastify#6725): the token arrives late, and only
  // then an event says so. storeTimeout limits the request.
  let grant = (): void => {}
  held = new Promise((resolve) => { grant = resolve })
  const late = portal.token({ code })
  await setTimeout(150)
  t.strictSame(events, [])
  grant()
  t.equal((await late).status, 200)
  t.match(events, [{ type: 'token_issued' }])

  // Where the limit holds, as with inject(), no token is issued to a portal that has got its response.
  events.length = 0
  calls.length = 0
  held = new Promise((resolve) => { release = resolve })
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      client_id: PORTAL.clientId,
      client_secret: PORTAL.clientSecret,
      redirect_uri: PORTAL.redirectUri,
      grant_type: 'authorization_code',
      code: other
    }).toString()
  })
  t.equal(statusCode, 503)
  release()
  await calls[0]
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.strictSame(events, [])
})
