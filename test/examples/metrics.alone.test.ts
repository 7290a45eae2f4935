// The example of metrics counts what happens, by portal, type and reason, and names no user.
// Alone: it asks whether anything in the process listens to the events.
import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { metricsRoute, refusals, serveMetrics } from '../../examples/prometheus.ts'
import { refusals as rows } from '../../lib/errors.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import type { Host } from '../helpers/host.ts'
import { freePort } from '../helpers/ports.ts'
import { wire } from '../helpers/wire.ts'
import type { Wire } from '../helpers/wire.ts'

/** A sign-in of alice, an unknown client and a replay. */
async function play (portal: Wire): Promise<void> {
  await portal.user(await portal.accessToken('alice'))
  await portal.authorize({ client_id: 'zzz-invented' })
  const code = await portal.code('bob')
  await portal.token({ code })
  await portal.token({ code })
}

const EXPECTED: Array<[type: string, reason: string, clientId: string, count: number]> = [
  ['code_issued', 'ok', PORTAL.clientId, 2],
  ['token_issued', 'ok', PORTAL.clientId, 2],
  ['user_information_returned', 'ok', PORTAL.clientId, 1],
  ['request_rejected', 'client_id_unknown', 'unknown', 1],
  ['code_replayed', 'code_replayed', PORTAL.clientId, 1]
]

const PERSONAL = /alice|bob|Name of|zzz/

const startCounted = async (t: Test): Promise<Host> =>
  await startHost(t, {}, { prepare: (app: FastifyInstance) => metricsRoute(app, [PORTAL.clientId]) })

/** The series at /metrics and their values. */
async function series (t: Test, portal: Wire): Promise<Map<string, number>> {
  const { text, headers } = await portal.send('/metrics')
  t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  t.match(text, '# TYPE partner_sso_events_total counter')
  t.notMatch(text, PERSONAL)
  return new Map([...text.matchAll(/^partner_sso_events_total\{(.+)\} (\d+)$/gm)]
    .map(([, labels = '', value]) => [labels.replaceAll('"', ''), Number(value)]))
}

t.test('Prometheus reads them at /metrics, each from 0', async (t) => {
  const portal = wire((await startCounted(t)).url)
  const before = await series(t, portal)
  t.strictSame(new Set(before.values()), new Set([0]))
  await play(portal)
  const after = await series(t, portal)
  t.strictSame([...after.keys()], [...before.keys()], 'no series begins later')
  const counted = [...after].filter(([, count]) => count > 0)
  t.strictSame(counted.sort(), EXPECTED.map(([type, reason, clientId, count]) => {
    const secret = type === 'token_issued' ? 'secret_index=0,' : ''
    return [`type=${type},reason=${reason},${secret}client_id=${clientId}`, count]
  }).sort())
})

t.test('it knows by which event each refusal is reported', async (t) => {
  t.strictSame(refusals, Object.fromEntries(Object.entries(rows).map(([reason, { type }]) => [reason, type])))
})

t.test('nothing is counted after the app has closed', async (t) => {
  const events = channel('fastify-partner-sso:event')
  t.notOk(events.hasSubscribers)
  const { app } = await startCounted(t)
  t.ok(events.hasSubscribers)
  await app.close()
  t.notOk(events.hasSubscribers)
})

/** A store that the test takes away and gives back. */
function losable () {
  const state = { isLost: false }
  const result = <T>(value: T) => async (): Promise<T> => {
    if (state.isLost) throw new Error('down')
    return value
  }
  return { state, store: { put: result(true), take: result('probe'), revoke: result(null) } }
}

t.test('partner_sso_ready asks the store at each scrape', async (t) => {
  const { state, store } = losable()
  const { url } = await startHost(t, { store }, { finish: (app) => metricsRoute(app, [PORTAL.clientId]) })
  for (const [isLost, value] of [[false, 1], [true, 0], [false, 1]] as const) {
    state.isLost = isLost
    const { text } = await wire(url).send('/metrics')
    t.match(text, `# TYPE partner_sso_ready gauge\npartner_sso_ready ${value}\n`, `lost: ${isLost}`)
  }
})

t.test('a port for one process: the next one gets it once this one has closed', async (t) => {
  const port = await freePort()
  const start = (): Promise<Host> =>
    startHost(t, {}, { finish: (app) => serveMetrics(app, [PORTAL.clientId], port) })
  const scrape = async (): Promise<string | undefined> =>
    await fetch(`http://127.0.0.1:${port}`).then((response) => response.text(), () => undefined)
  const hosts = [await start(), await start()]
  const [first, second] = hosts as [Host, Host]
  while (await scrape() === undefined);
  await first.app.close()
  while (await scrape() === undefined);
  await second.app.close()
  t.equal(await scrape(), undefined)
})
