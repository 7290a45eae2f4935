import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

interface Result { status: number | null, output: string }

/** Runs Prometheus' own tool. */
export function promtool (...args: string[]): Result {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' })
  if (error !== undefined) throw new Error('promtool is needed on PATH: apt-get install prometheus', { cause: error })
  return { status, output: stdout + stderr }
}

/** A query on some series and the alerts that they cause, and what it must find. */
interface Query {
  /** By their names, promtool's notation of the values. There is one every 15 s. */
  series: Record<string, string>
  /** The time since the first value. */
  at: string
  expr: string
  expected: Array<{ labels?: string, value: number }>
}

/** Whether the query finds this, by Prometheus' own tool. */
export function found ({ series, at, expr, expected }: Query): Result {
  const interval = '15s'
  const test = {
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{ eval_time: at, expr, exp_samples: expected }]
  }
  const folder = mkdtempSync(join(tmpdir(), 'partner-sso-promtool-'))
  try {
    const file = join(folder, 'query.json')
    const rules = [resolve('examples/alerts.yml')]
    writeFileSync(file, JSON.stringify({ rule_files: rules, evaluation_interval: interval, tests: [test] }))
    return promtool('test', 'rules', file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The series that a process exports, with their values. */
export function seriesIn (metrics: string): Array<[series: string, value: string]> {
  const lines = metrics.matchAll(/^(partner_sso_\w+(?:\{.*\})?) (\d+)$/gm)
  return [...lines].map(([, series = '', value = '']) => [series, value])
}
