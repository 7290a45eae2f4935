// `handlerTimeout` of the host is over while a handler of ours waits: Fastify has responded, and nothing says `ok`.
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { hostOptions, PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('while portalEligibility runs: no code is stored', async (t) => {
  const stored: string[] = []
  let answered = (): void => {}
  const afterAnswer = new Promise<void>((resolve) => { answered = resolve })
  let finished = (): void => {}
  const late = new Promise<void>((resolve) => { finished = resolve })
  const { app, events } = await startHost(t, {
    routeOptions: { handlerTimeout: 20 },
    store: {
      async put (key) { stored.push(key); return true },
      async take () { return 'probe' },
      async revoke () { return false }
    },
    async portalEligibility (user, context) {
      await afterAnswer
      // The handler goes on after this, in the same turn of the event loop.
      setImmediate(finished)
      return await hostOptions().portalEligibility(user, context)
    }
  })
  stored.length = 0
  const query = new URLSearchParams({
    client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 's'
  })
  const answer = await app.inject({ url: `/oauth/authorize?${query}`, headers: { 'x-user': 'u1' } })
  t.equal(answer.statusCode, 503)
  answered()
  await late
  t.strictSame([stored, events], [[], []])
})

t.test('while the store issues a token: no event says ok', async (t) => {
  const records = new Map<string, string>()
  let isSlow = false
  let answered = (): void => {}
  const afterAnswer = new Promise<void>((resolve) => { answered = resolve })
  let finished = (): void => {}
  const late = new Promise<void>((resolve) => { finished = resolve })
  const { app, url, events } = await startHost(t, {
    routeOptions: { handlerTimeout: 20 },
    store: {
      async put (key, value) {
        if (isSlow) {
          await afterAnswer
          setTimeout(0).then(finished)
        }
        records.set(key, value)
        return true
      },
      async take (key) {
        const value = records.get(key) ?? null
        records.delete(key)
        return value
      },
      async revoke () { return false }
    }
  })
  const code = await wire(url).code()
  events.length = 0
  isSlow = true
  const { clientId: client_id, clientSecret: client_secret, redirectUri: redirect_uri } = PORTAL
  const form = new URLSearchParams({ client_id, client_secret, redirect_uri, grant_type: 'authorization_code', code })
  const answer = await app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: form.toString()
  })
  t.equal(answer.statusCode, 503)
  answered()
  await late
  t.strictSame(events, [])
})

t.test('while the portal function runs: no event says ok', async (t) => {
  const store = new MemoryStore(10)
  const token = await wire((await startHost(t, { store })).url).accessToken()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => { finish = resolve })
  const { app, events } = await startHost(t, {
    store,
    storeTimeout: 30_000,
    routeOptions: { handlerTimeout: 20 },
    async portal () {
      await released
      // The handler goes on after this, in the same turn of the event loop.
      setImmediate(finish)
      return PORTAL
    }
  })
  const answer = await app.inject({ url: '/oauth/user', headers: { authorization: `Bearer ${token}` } })
  t.equal(answer.statusCode, 503)
  release()
  await finished
  t.strictSame(events, [])
})
