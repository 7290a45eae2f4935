// Failures that no configuration has: what the other side gets, and what the host sees.
import t from 'tap'
import { refuses } from '../contract/replies.ts'
import { pluginOptions, PORTAL, startApp } from '../app.ts'
import { capture } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'
import { wire } from '../wire.ts'
import partnerSso from '../../lib/index.ts'

t.test('the store fails after the code was taken: the event says whose sign-in it was', async (t) => {
  const records = new Map<string, string>()
  let puts = 0
  const { url, events } = await startApp(t, { options: {
    store: {
      async put (key, value) {
        // Of the probe at the start, and of the code.
        if (puts++ === 2) throw new Error('It is down')
        return Boolean(records.set(key, value))
      },
      async take (key) { return records.get(key) ?? null },
      async revoke () { return null }
    }
  } })
  const code = await wire(url).code()
  refuses(t, await wire(url).token({ code }), 503, 'temporarily_unavailable')
  t.match(events.at(-1), { type: 'store_unavailable', clientId: PORTAL.clientId, externalId: 'u-1' })
})

t.test('a store that holds every key: no code is issued that would lead to another user', async (t) => {
  let probed: string | null = null
  const log = capture()
  const { url, events } = await startApp(t, { options: {
    store: {
      // The probe at the start
      async put (_key, value) { return probed === null && (probed = value) !== '' },
      async take () { return probed },
      async revoke () { return null }
    }
  }, server: log })
  const { redirect } = await wire(url).authorize()
  t.strictSame([redirect.get('error'), redirect.get('code')], ['server_error', null])
  t.match(events, [{ type: 'request_rejected', reason: 'internal_error', externalId: 'u-1' }])
  t.match(log.text(), 'put returned false for a new key')
})

t.test('a loginPage function that is async, which the types refuse', async (t) => {
  const loginPage = (async () => { throw new Error('no page') }) as never
  const { url, events } = await startApp(t, { options: { loginPage } })
  t.equal((await wire(url).authorize({}, null)).redirect.get('error'), 'server_error')
  t.match(events, [{ type: 'sign_in_refused', reason: 'login_page_failed' }])
})

t.test('the browser leaves before the reply that currentUser returns is sent: currentUser has replied', async (t) => {
  const { url, events } = await startApp(t, { options: {
    currentUser: (_request, reply) => {
      reply.raw.destroy()
      return reply
    }
  } })
  await t.rejects(wire(url).authorize())
  await until(() => events.length > 0)
  t.match(events, [{ type: 'login_required', reason: 'current_user_replied' }])
})

t.test('a fault when all is known: the portal gets it, and the event says whose sign-in it was', async (t) => {
  let fails = false
  const info = (): void => { if (fails) throw new Error('The logger is full') }
  const { url, events } = await startApp(t, {
    prepare: (app) => app.addHook('onRequest', async (request) => {
      request.log = Object.create(request.log, { info: { value: info } }) as typeof request.log
    })
  })
  const at = wire(url)
  const [code, token] = [await at.code(), await at.accessToken()]
  fails = true
  t.equal((await at.authorize()).redirect.get('error'), 'server_error')
  for (const response of [await at.token({ code }), await at.user(token)]) refuses(t, response, 500, 'server_error')
  const known = { reason: 'internal_error', clientId: PORTAL.clientId, externalId: 'u-1' }
  t.match(events.slice(-3), [known, { ...known, signInId: String }, { ...known, signInId: String }])
})

t.test('the log level that the host registers the plugin with', async (t) => {
  const log = capture()
  const quiet = { ...pluginOptions(), prefix: '/quiet', logLevel: 'error' as const }
  const { url } = await startApp(t, { server: log, finish: (app) => app.register(partnerSso<string>, quiet) })
  await wire(`${url}/quiet`).token()
  t.notMatch(log.text(), '"reqId"')
  await wire(url).token()
  t.match(log.text(), '"event":"request_rejected"')
})
