// The alerts for Prometheus fire when they should, and at no other time: alerts.test.yml, run by Prometheus' own tool.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { refusals } from '../../examples/prometheus.ts'
import { promtool } from './promtool.ts'

const TESTS = 'test/examples/alerts.test.yml'

t.test('each alert fires by its cause', async (t) => {
  t.match(promtool(TESTS), /^ *SUCCESS\s*$/m)
})

t.test('each alert is tested, and asks for reasons and types that exist', async (t) => {
  const alerts = readFileSync('examples/alerts.yml', 'utf8')
  const tests = readFileSync(TESTS, 'utf8')
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  t.not(names.length, 0)
  for (const name of names) t.match(tests, new RegExp(`alertname: ${name}\\n.*\\n *exp_alerts:\\n`), name)
  const known = [...Object.keys(refusals), ...Object.values(refusals), 'code_issued', 'token_issued']
  const exists = (part: string): boolean => {
    const pattern = new RegExp(`^${part}$`)
    return known.some((name) => pattern.test(name))
  }
  const named = [...alerts.matchAll(/(?:type|reason)=~?"(.+?)"/g)]
    .flatMap(([, pattern = '']) => pattern.split('|'))
  t.strictSame(named.filter((part) => !exists(part)), [])
})
