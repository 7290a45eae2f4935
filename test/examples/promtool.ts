// Needs: promtool
import { spawnSync } from 'node:child_process'

/** Runs Prometheus' own tool. */
export function promtool (...args: string[]): { status: number | null, output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' })
  if (error !== undefined) throw new Error('promtool is needed on PATH: apt-get install prometheus', { cause: error })
  return { status, output: stdout + stderr }
}
