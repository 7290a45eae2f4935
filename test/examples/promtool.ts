import { spawnSync } from 'node:child_process'

interface Result { status: number | null, output: string }

/** Runs the tests in a file by Prometheus' own tool. */
export function promtool (file: string): Result {
  const { status, stdout, stderr, error } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  if (error !== undefined) throw new Error('promtool is needed on PATH: apt-get install prometheus', { cause: error })
  return { status, output: stdout + stderr }
}
