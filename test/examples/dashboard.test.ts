// The dashboard's queries find what prometheus.ts exports: Prometheus' own tool runs them on every series of it.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { metricsRoute, refusals } from '../../examples/prometheus.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { found, seriesIn } from './promtool.ts'

interface Panel { title: string, targets: Array<{ expr: string }> }

const { panels } = JSON.parse(readFileSync('examples/grafana.json', 'utf8')) as { panels: Panel[] }

/** What Grafana fills in. */
const filled = (expr: string): string => expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '5m')
  .replaceAll('$portal', '.+')
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, filled(expr)] as const))

/** The series of a process whose every counter goes up. */
async function exported (): Promise<Record<string, string>> {
  const { url } = await startHost(t, {}, { finish: (app) => metricsRoute(app, [PORTAL.clientId]) })
  const { text } = await wire(url).send('/metrics')
  const names = seriesIn(text).map(([name]) => name)
  return Object.fromEntries(names.map((name) => [name, name === 'partner_sso_ready' ? '0x40' : '0+9x40']))
}

t.test('each query finds what is exported', async (t) => {
  const series = await exported()
  t.ok(Object.keys(series).length > 100)
  const finds = (query: string) =>
    found({ series, at: '5m', expr: `(count(${query}) or vector(0)) > bool 0`, expected: [{ value: 1 }] })
  for (const [title, query] of queries) {
    const { status, output } = finds(query)
    t.equal(status, 0, `${title}: ${output}`)
  }
  t.equal(finds('partner_sso_unknown').status, 1, 'a metric that is not exported is noticed')
})

t.test('each type that is named exists, and every refusal is shown', async (t) => {
  const shown = queries.filter(([title]) => title.startsWith('Refusals'))
  t.equal(shown.length, 2)
  for (const [title, query] of shown) {
    const types = /type=~"([^"]+)"/.exec(query)?.[1]?.split('|')
    t.strictSame(types?.sort(), [...new Set(Object.values(refusals))].sort(), title)
  }
})
