// The dashboard's queries find what prometheus.ts exports: Prometheus' own tool runs them on every series of it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { metricsRoute, refusals } from '../../examples/prometheus.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { promtool } from './promtool.ts'

interface Panel { title: string, targets: Array<{ expr: string }> }

const { panels } = JSON.parse(readFileSync('examples/grafana.json', 'utf8')) as { panels: Panel[] }

/** What Grafana fills in. */
const filled = (expr: string): string => expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '5m')
  .replaceAll('$portal', '.+')
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, filled(expr)] as const))

/** The series of a process whose every counter goes up. */
async function exported (): Promise<string[]> {
  const { url } = await startHost(t, {}, { finish: (app) => metricsRoute(app, [PORTAL.clientId]) })
  const { text } = await wire(url).send('/metrics')
  const names = [...text.matchAll(/^(partner_sso_\w+(?:\{.*\})?) \d+$/gm)].map(([, name = '']) => name)
  return names.map((name) => name.startsWith('partner_sso_ready') ? series(name, '0x40') : series(name, '0+9x40'))
}

const series = (name: string, values: string): string => `      - { series: '${name}', values: '${values}' }`

/** A test file for promtool: whether each query finds something. */
function tests (given: string[], queries: string[]): string {
  const trials = queries.map((query) =>
    `      - { eval_time: 5m, expr: '(count(${query}) or vector(0)) > bool 0', exp_samples: [{ value: 1 }] }`)
  return [
    `rule_files: [${JSON.stringify(resolve('examples/alerts.yml'))}]`, 'evaluation_interval: 15s', 'tests:',
    '  - interval: 15s', '    input_series:', ...given, '    promql_expr_test:', ...trials
  ].join('\n')
}

t.test('each query finds what is exported', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sso-dashboard-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'queries.yml')
  const given = await exported()
  t.ok(given.length > 100)
  for (const [title, query] of queries) {
    writeFileSync(file, tests(given, [query]))
    const { status, output } = promtool('test', 'rules', file)
    t.equal(status, 0, `${title}: ${output}`)
  }
  writeFileSync(file, tests(given, ['partner_sso_unknown']))
  t.equal(promtool('test', 'rules', file).status, 1, 'a metric that is not exported is noticed')
})

t.test('each type that is named exists, and every refusal is shown', async (t) => {
  const shown = queries.filter(([title]) => title.startsWith('Refusals'))
  t.equal(shown.length, 2)
  for (const [title, query] of shown) {
    const types = /type=~"([^"]+)"/.exec(query)?.[1]?.split('|')
    t.strictSame(types?.sort(), [...new Set(Object.values(refusals))].sort(), title)
  }
})
