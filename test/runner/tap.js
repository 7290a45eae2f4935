// Runs tap on test files and reads its results. Shared by `npm test` (test/run.js) and test/repeat.js.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Every test file. */
export function testFiles () {
  return readdirSync('test', { recursive: true }).filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file)).sort()
}

/**
 * Runs tap with these options and files. `show` gets each line of interest: a line a file, and all of each failure.
 * Returns tap's own counts, whether tap is content, and the lines of what failed.
 */
export async function runTap (options, files, show) {
  const started = performance.now()
  const child = spawn('npx', ['tap', '--reporter=tap', ...options, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let counts = null
  let inDiagnostics = false
  const failures = []
  for await (const line of createInterface({ input: child.stdout })) {
    counts = countsIn(line) ?? counts
    if (/^\s*not ok/.test(line)) {
      inDiagnostics = true
      failures.push(line)
    }
    if (inDiagnostics || isOfInterest(line)) show(line)
    if (/^\s*\.\.\.$/.test(line)) inDiagnostics = false
  }
  const ended = await exited === 0 && counts !== null
  const took = performance.now() - started
  return { pass: 0, fail: 0, skip: 0, todo: 0, ...counts, ok: ended, failures, took }
}

/** The last line but one of tap: `# { total: 22, pass: 22 }`. */
function countsIn (line) {
  const found = /^# \{ (.*) \}$/.exec(line)
  if (found === null) return null
  const pairs = found[1].split(', ').map((pair) => pair.split(': '))
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]))
}

function isOfInterest (line) {
  return /^ok /.test(line) || !/^\s*(?:ok |# Subtest|# time|1\.\.|\{|\}|$|TAP version)/.test(line)
}
