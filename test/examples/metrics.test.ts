// The example of metrics counts what happens, by portal, type and reason, and names no user.
import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { metricsRoute, refusals, serveMetrics } from '../../examples/prometheus.ts'
import { refusals as rows } from '../../lib/errors.ts'
import { pluginOptions, PORTAL, startApp } from '../app.ts'
import { clockOf } from '../clock.ts'
import { freePort } from '../helpers/ports.ts'
import { wire } from '../wire.ts'

const EXPECTED = [
  'type="code_issued",reason="ok",client_id="partner-123"} 2',
  'type="code_replayed",reason="code_replayed",client_id="partner-123"} 1',
  'type="login_required",reason="current_user_replied",client_id="partner-123"} 1',
  'type="login_required",reason="login_page",client_id="partner-123"} 1',
  'type="request_rejected",reason="client_id_unknown",client_id="unknown"} 1',
  'type="token_issued",reason="ok",secret_index="0",client_id="partner-123"} 2',
  'type="user_information_returned",reason="ok",client_id="partner-123"} 1'
]

t.test('Prometheus reads them at /metrics, each from 0, until the app closes', async (t) => {
  const events = channel('fastify-partner-sso:event')
  t.notOk(events.hasSubscribers)
  const { currentUser } = pluginOptions()
  const { app, url } = await startApp(t, { options: {
    loginPage: '/login',
    currentUser: (request, reply) => 'x-page' in request.headers ? reply.send('') : currentUser(request, reply)
  }, prepare: (app) => metricsRoute(app, [PORTAL.clientId]) })
  const portal = wire(url)
  const series = async (): Promise<string[]> => {
    const { text, headers } = await portal.send('/metrics')
    t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
    t.match(text, '# TYPE partner_sso_events_total counter')
    return [...text.matchAll(/^partner_sso_events_total\{(.+)$/gm)].map(([, line = '']) => line).sort()
  }
  const before = await series()
  await portal.user(await portal.accessToken())
  await portal.authorize({ client_id: 'zzz-invented' })
  await portal.authorize({}, null)
  await portal.authorize({}, null, { 'x-page': '1' })
  const code = await portal.code('bob')
  for (let times = 0; times < 2; times++) await portal.token({ code })
  const after = await series()
  t.strictSame(before, after.map((line) => line.replace(/\d+$/, '0')), 'no series begins later')
  t.strictSame(after.filter((line) => !line.endsWith(' 0')), EXPECTED)
  await app.close()
  t.notOk(events.hasSubscribers)
})

t.test('it knows by which event each refusal is reported', async (t) => {
  t.strictSame(refusals, Object.fromEntries(Object.entries(rows).map(([reason, { type }]) => [reason, type])))
})

t.test('partner_sso_ready asks the store at each scrape, which ends also where the store hangs', async (t) => {
  let put = async (): Promise<boolean> => true
  const store = { put: () => put(), take: async () => 'probe', revoke: async () => null }
  const finish = (app: FastifyInstance) => metricsRoute(app, [PORTAL.clientId])
  const clock = clockOf(t)
  const { url } = await clock.run(() => startApp(t, { options: { store, storeTimeout: 1000 }, finish }))
  const isReady = async (value: 0 | 1, state: string, stored: typeof put) => {
    put = stored
    t.match((await wire(url).send('/metrics')).text, `gauge\npartner_sso_ready ${value}\n`, state)
  }
  await isReady(1, 'good', async () => true)
  await isReady(0, 'lost', async () => false)
  await isReady(0, 'hangs', () => {
    setImmediate(() => clock.pass(1001))
    return new Promise(() => {})
  })
  await isReady(1, 'good again', async () => true)
})

t.test('a port for one process: the next one gets it once this one has closed', async (t) => {
  const port = await freePort()
  const start = async () =>
    (await startApp(t, { finish: (app) => serveMetrics(app, [PORTAL.clientId], port) })).app
  const responds = async () => await fetch(`http://127.0.0.1:${port}`).then(({ ok }) => ok, () => false)
  for (const app of [await start(), await start()]) {
    while (!await responds());
    await app.close()
  }
  t.notOk(await responds())
})
