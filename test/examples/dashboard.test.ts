// The dashboard's queries find what prometheus.ts exports: Prometheus' own tool runs them on every series of it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { metricsRoute, refusals } from '../../examples/prometheus.ts'
import { PORTAL, startApp } from '../app.ts'
import { wire } from '../wire.ts'
import { promtool } from './promtool.ts'

interface Panel { targets: Array<{ expr: string }> }

const { panels } = JSON.parse(readFileSync('examples/grafana.json', 'utf8')) as { panels: Panel[] }
const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

/** What Grafana fills in. */
function filled (expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '5m')
    .replaceAll('$portal', '.+')
}

t.test('each query finds what is exported', async (t) => {
  const { url } = await startApp(t, { finish: (app) => metricsRoute(app, [PORTAL.clientId]) })
  const { text } = await wire(url).send('/metrics')
  const names = text.match(/^partner_sso_\w+(?:\{.*\})?(?= )/gm) ?? []
  // A process whose every counter goes up.
  const series = names.map((name) => ({ series: name, values: name === 'partner_sso_ready' ? '0x40' : '0+9x40' }))
  const file = join(t.testdir(), 'queries.json')
  const finds = (...queries: string[]) => {
    const found = queries.map((query) => ({
      expr: `(count(${query}) or vector(0)) > bool 0`,
      eval_time: '5m',
      exp_samples: [{ value: 1 }]
    }))
    writeFileSync(file, JSON.stringify({
      rule_files: [resolve('examples/alerts.yml')],
      evaluation_interval: '15s',
      tests: [{ interval: '15s', input_series: series, promql_expr_test: found }]
    }))
    return promtool(file)
  }
  t.match(finds(...expressions.map(filled)), /^ *SUCCESS\s*$/m)
  t.match(finds('partner_sso_unknown'), 'FAILED', 'a metric that is not exported is noticed')
})

t.test('panels of reasons show every refusal', async (t) => {
  const types = [...new Set(Object.values(refusals))].sort()
  const shown = expressions.filter((expr) => expr.includes('by (reason)'))
  t.not(shown.length, 0)
  for (const expr of shown) t.strictSame(/type=~"([^"]+)"/.exec(expr)?.[1]?.split('|').sort(), types, expr)
})
