// The runbook shows log lines as they are today: each comes from a real app on which its cause is played. To rewrite
// the page after a change:
//
//   UPDATE_RUNBOOK=1 npm test -- test/package/runbook.test.ts
import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import type { Test } from 'tap'
import { refusals } from '../../lib/errors.ts'
import type { RefusalReason } from '../../lib/errors.ts'
import { refusals as provocations } from '../contract/refusals.ts'
import { incidents } from './runbook/incidents.ts'
import { startScene } from './runbook/scene.ts'
import type { Line } from './runbook/scene.ts'

const RUNBOOK = '.github/RUNBOOK.md'
const REASONS = Object.keys(refusals) as RefusalReason[]

/** The one line that a refusal is logged with. */
async function refusalLine (t: Test, reason: RefusalReason): Promise<Line[]> {
  const { options = {}, provoke } = provocations[reason]
  const scene = await startScene(t, options)
  await provoke(scene.portal)
  const lines = scene.lines().filter((line) => line.reqId !== undefined && line.reason === reason)
  const { type, level } = refusals[reason]
  const levels: Record<string, number> = { debug: 20, info: 30, warn: 40, error: 50 }
  t.equal(lines.length, 1)
  t.match(lines, [{ event: type, level: levels[level] }], `${reason} is logged once, as the table says`)
  return lines
}

/** The page with its log lines as they are today. */
function rewritten (page: string, samples: ReadonlyMap<string, Line[]>): string {
  return page
    .replaceAll(/(<!-- log: (.+) -->\n```json\n)[^]*?```/g, (_block, start: string, names: string) => {
      const lines = names.split(', ').flatMap((name) => samples.get(name) ?? [])
      return `${start}${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}\`\`\``
    })
}

const samples = new Map<string, Line[]>()

await t.test('each reason is logged once, with the event and level of the table', async (t) => {
  for (const reason of REASONS) samples.set(reason, await refusalLine(t, reason))
})

await t.test('each incident is answered by what is logged', async (t) => {
  for (const [name, play] of Object.entries(incidents)) {
    const lines = await play(t)
    t.not(lines.length, 0, name)
    samples.set(name, lines)
  }
})

await t.test('the runbook shows them all, as they are', async (t) => {
  const page = await readFile(RUNBOOK, 'utf8')
  const shown = [...page.matchAll(/<!-- log: (.+) -->/g)].flatMap(([, names = '']) => names.split(', '))
  t.strictSame(shown.sort(), [...samples.keys()].sort(), 'each is shown once')
  const current = rewritten(page, samples)
  if (process.env.UPDATE_RUNBOOK === '1') await writeFile(RUNBOOK, current)
  else t.equal(page, current)
})

await t.test('the runbook has a cause and a fix for each reason', async (t) => {
  const page = await readFile(RUNBOOK, 'utf8')
  const [, symptoms = ''] = /^## By symptom\n([^]*?)^## /m.exec(page) ?? []
  const rows = symptoms.split('\n').filter((line) => /^\| `/.test(line))
  const explained = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
  t.strictSame(explained.sort(), [...REASONS].sort())
  for (const row of rows) t.match(row, /^\| .+ \| .+ \| .+ \|$/, 'reasons, cause, fix')
})
