// An answer that was sent before the plugin's own. With an onSend hook that waits, as sessions and compression have
// one, `reply.sent` is false for a while after `reply.send()`.
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type PartnerSsoOptions } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { hostOptions, PORTAL, startHost, type User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

/** A host with an onSend hook that is over when `release` is called. */
async function slowHost (t: Test, overrides: Partial<PartnerSsoOptions<User>>) {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const prepare = (app: Parameters<NonNullable<NonNullable<Parameters<typeof startHost>[2]>['prepare']>>[0]) => {
    app.addHook('onSend', async () => await released)
  }
  return { ...await startHost(t, overrides, { prepare }), release }
}

for (const [what, returned] of [['null', null], ['a user', { id: 'u1', eligible: true }]] as const) {
  t.test(`currentUser sends a reply and returns ${what}`, async (t) => {
    let asked = 0
    const { url, events, release } = await slowHost(t, {
      loginPage: '/another-page',
      async currentUser (_request, reply) {
        reply.code(403).send('blocked')
        return returned
      },
      portalEligibility: () => { asked++; return null }
    })
    const answer = wire(url).authorize()
    while (events.length === 0) await setTimeout(1)
    await setTimeout(10)
    release()
    t.match(await answer, { status: 403, text: 'blocked' })
    t.equal((await answer).headers.get('location'), null)
    t.equal(asked, 0, 'nobody is asked whether the user may enter')
    t.match(events, [{ type: 'login_required', reason: 'answered_by_current_user' }])
    t.equal(events.length, 1)
  })
}

t.test('currentUser answers by itself, past Fastify, and returns a user: nothing is issued', async (t) => {
  let asked = 0
  const { url, events } = await startHost(t, {
    loginPage: '/another-page',
    currentUser (_request, reply) {
      reply.hijack()
      reply.raw.writeHead(403).end('blocked')
      return { id: 'u1', eligible: true }
    },
    portalEligibility: () => { asked++; return null }
  })
  t.match(await wire(url).authorize(), { status: 403, text: 'blocked' })
  t.equal(asked, 0)
  t.match(events, [{ type: 'login_required', reason: 'answered_by_current_user' }])
  t.equal(events.length, 1)
})

t.test('handlerTimeout is over while portalEligibility runs: no code is stored', async (t) => {
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

t.test('handlerTimeout is over while the store issues a token: no event says ok', async (t) => {
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

t.test('handlerTimeout is over while the portal function runs: no event says ok', async (t) => {
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
