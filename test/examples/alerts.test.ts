// The alerts for Prometheus fire when they should, and at no other time: alerts.test.yml, run by Prometheus' own tool.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { refusals } from '../../examples/prometheus.ts'
import { promtool } from './promtool.ts'

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
  const [alerts, tests] = [ALERTS, TESTS].map((file) => readFileSync(file, 'utf8')) as [string, string]
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  t.ok(names.length > 10)
  for (const name of names) t.match(tests, new RegExp(`alertname: ${name}\\n.*\\n *exp_alerts:\\n`), name)
  const known = [...Object.keys(refusals), ...Object.values(refusals), 'code_issued', 'token_issued',
    'user_information_returned', 'login_required']
  for (const [, pattern = ''] of alerts.matchAll(/(?:type|reason)=~?"(.+?)"/g)) {
    for (const part of pattern.split('|')) {
      t.ok(known.some((name) => new RegExp(`^${part}$`).test(name)), part)
    }
  }
})
