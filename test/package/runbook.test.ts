// The runbook has a row for each reason, says what the portal gets, and shows log lines as they are.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { refusals } from '../contract/refusals.ts'
import { startApp } from '../app.ts'
import { wire } from '../wire.ts'

const PAGE = readFileSync('.github/RUNBOOK.md', 'utf8')

t.test('each reason has one row: what the portal gets, cause and fix', async (t) => {
  const [, table = ''] = /^## Reasons\n([^]*?)^## /m.exec(PAGE) ?? []
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | '))
  const named = rows.flatMap(([reasons = '', got = '', cause]) => (reasons.match(/\w+/g) ?? []).map((reason) => {
    const { at, error } = refusals[reason as keyof typeof refusals]
    t.match(got, at === 'page' ? 'page' : got === '401' ? '401' : `\`${error}\``, reason)
    t.ok(cause, reason)
    return reason
  }))
  t.strictSame(named.sort(), Object.keys(refusals).sort())
})

t.test('each reason that is named elsewhere exists', async (t) => {
  const [, symptoms = ''] = /^## By symptom\n([^]*?)^## /m.exec(PAGE) ?? []
  const known = [...Object.keys(refusals), 'login_required', 'store_available', 'token_issued']
  const named = [...symptoms.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name)
  t.strictSame(named.filter((name) => !known.includes(name)), [])
  t.not(named.length, 0)
})

t.test('each alert leads to its section: what it means, what to look at, when to wake somebody', async (t) => {
  const alerts = readFileSync('examples/alerts.yml', 'utf8').split(/^ *- alert: /m).slice(1)
  const [, sections = ''] = /^## Alerts\n([^]*?)^## /m.exec(PAGE) ?? []
  const names = alerts.map((alert) => /^\w+/.exec(alert)?.[0] ?? '')
  t.strictSame([...sections.matchAll(/^### (.+)$/gm)].map(([, name]) => name), names)
  const page = 'https://github.com/fastify-partner-sso/fastify-partner-sso/blob/main/.github/RUNBOOK.md'
  for (const [index, name] of names.entries()) {
    t.match(alerts[index], `runbook_url: ${page}#${name.toLowerCase()}\n`, name)
    const [, section = ''] = new RegExp(`^### ${name}\\n([^]*?)(?=^### |(?![^]))`, 'm').exec(sections) ?? []
    for (const part of ['What it means', 'What to look at', 'When to wake somebody']) {
      t.match(section, `- **${part}.** `, `${name}: ${part}`)
    }
  }
})

t.test('the codes of the errors at the start are those that there are', async (t) => {
  const source = readFileSync('lib/start-errors.ts', 'utf8')
  const [, table = ''] = /^## The app does not start\n([^]*?)^## /m.exec(PAGE) ?? []
  const codes = (text: string) => [...new Set(text.match(/FST_PARTNER_SSO_\w+/g))].sort()
  t.strictSame(codes(table), codes(source))
  t.not(codes(table).length, 0)
})

t.test('the log lines of a user who may not enter', async (t) => {
  let lines = ''
  const write = (text: string): void => {
    const { time, pid, hostname, req, res, ...line } = JSON.parse(text)
    if (!req && !res && line.reqId) lines += `${JSON.stringify({ ...line, reqId: 'req-1' })}\n`
  }
  const { url } = await startApp(t, { options: {
    portalEligibility (user, { request }) {
      request.log.info({ user }, 'no disputes in the contract of this client')
      return null
    }
  }, server: { logger: { stream: { write } } } })
  await wire(url).authorize({}, 'ada')
  const [, shown] = /<!-- log: user denied -->\n```json\n([^]*?)```/.exec(PAGE) ?? []
  t.equal(lines, shown)
})
