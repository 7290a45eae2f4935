// The alerts for Prometheus fire when they should, and at no other time: alerts.test.yml, run by Prometheus' own tool.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { metricsRoute, refusals } from '../../examples/prometheus.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { report } from '../helpers/program.ts'
import { wire } from '../helpers/wire.ts'
import { found, promtool, seriesIn } from './promtool.ts'

const ALERTS = 'examples/alerts.yml'
const TESTS = 'test/examples/alerts.test.yml'

for (const [command, file] of [['check', ALERTS], ['test', TESTS]] as const) {
  t.test(`promtool ${command} rules ${file}`, async (t) => {
    const { status, output } = promtool(command, 'rules', file)
    t.equal(status, 0, output)
    t.match(output, 'SUCCESS')
  })
}

t.test('each alert is tested, and asks for reasons and types that exist', async (t) => {
  const [alerts, tests] = [readFileSync(ALERTS, 'utf8'), readFileSync(TESTS, 'utf8')]
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  t.not(names.length, 0)
  for (const name of names) t.match(tests, new RegExp(`alertname: ${name}\\n.*\\n *exp_alerts:\\n`), name)
  const known = [...Object.keys(refusals), ...Object.values(refusals), 'code_issued', 'token_issued']
  for (const [, pattern = ''] of alerts.matchAll(/(?:type|reason)=~?"(.+?)"/g)) {
    for (const part of pattern.split('|')) {
      t.ok(known.some((name) => new RegExp(`^${part}$`).test(name)), part)
    }
  }
})

t.test('a run of check fires a ticket for its replays, and nothing else', async (t) => {
  const { url } = await startHost(t, {}, { finish: (app) => metricsRoute(app, [PORTAL.clientId]) })
  const flags = ['--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri, '--header', 'x-user: alice']
  const { code } = await report(url, flags, { env: { PORTAL_CLIENT_SECRET: PORTAL.clientSecret } })
  t.equal(code, 0)
  const counters = seriesIn((await wire(url).send('/metrics')).text).filter(([name]) => name !== 'partner_sso_ready')
  // Nobody else signs in.
  const series = Object.fromEntries(counters.map(([name, count]) => [name, `0x8 ${count}x232`]))
  const { status, output } = found({
    series,
    at: '1h',
    expr: 'group by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1h]))',
    expected: [{ labels: '{alertname="PartnerSsoCodeReplayed"}', value: 1 }]
  })
  t.equal(status, 0, output)
})
