import { spawnSync } from 'node:child_process'

/** Runs the tests in a file by Prometheus' own tool: what it says, with FAILED where one fails. */
export function promtool (file: string): string {
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  return stdout + stderr
}
