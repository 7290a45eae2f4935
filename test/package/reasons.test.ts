// The table of reasons in the runbook is made from the source: `node test/package/reasons.js` is not needed, as a
// failing test prints the table as it should be.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { type RefusalPlace, type RefusalReason, refusals } from '../../lib/errors.ts'

const RUNBOOK = new URL('../../examples/RUNBOOK.md', import.meta.url)

const ENDPOINTS: Record<RefusalPlace, string> = {
  page: 'authorize', authorize: 'authorize', token: 'token', user: 'user'
}

/** What the portal sees, at each place. */
function answerOf (reason: RefusalReason): string {
  const { at, status, error } = refusals[reason] as { at: readonly RefusalPlace[], status: number, error: string }
  const answers = at.map((place) => {
    if (place === 'page') return `${status}, a page for the person; nothing reaches the portal`
    if (place === 'authorize') return `redirect with \`${error}\``
    return reason === 'credentials_missing' ? `${status}` : `${status} \`${error}\``
  })
  return [...new Set(answers)].join('; ')
}

function table (): string {
  const rows = (Object.keys(refusals) as RefusalReason[]).map((reason) => {
    const { at, type, level, meaning } = refusals[reason] as { at: readonly RefusalPlace[], type: string, level: string, meaning: string }
    const endpoints = [...new Set(at.map((place) => ENDPOINTS[place]))].join(', ')
    return `| \`${reason}\` | ${meaning} | ${endpoints} | ${answerOf(reason)} | \`${type}\` | ${level} |`
  })
  return ['| Reason | Meaning | Endpoint | What the portal gets | Event | Log level |', '|---|---|---|---|---|---|', ...rows].join('\n')
}

t.test('the runbook lists every reason as the source has it', async (t) => {
  const runbook = await readFile(RUNBOOK, 'utf8')
  const [, section = ''] = /^## Reasons\n([^]*?)(?=^## |(?![^]))/m.exec(runbook) ?? []
  const found = section.split('\n').filter((line) => line.startsWith('|')).join('\n')
  t.equal(found, table())
})

t.test('every reason in the source of the routes is one of the table, and none is unused', async (t) => {
  const files = ['portal.ts', 'routes/authorize.ts', 'routes/token.ts', 'routes/user.ts', 'http/endpoint.ts',
    'stores/guard.ts', 'errors.ts']
  const source = (await Promise.all(files.map((file) =>
    readFile(new URL(`../../lib/${file}`, import.meta.url), 'utf8')))).join('\n')
  const used = source.replaceAll(/^ {2}\w+: .*$/gm, '')
  for (const reason of Object.keys(refusals)) {
    if (reason.startsWith('portal_') && reason !== 'portal_eligibility_failed') continue
    t.ok(used.includes(`'${reason}'`), reason)
  }
})
