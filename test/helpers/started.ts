import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** A program in a process of its own, which ends with the test. */
export type Started = ReturnType<typeof started>

/** Starts a program without REDIS_URL, and without what tap loads into each program of Node: it takes half a second. */
export function started (t: Teardown, command: string[], more: NodeJS.ProcessEnv = {}, cwd = process.cwd()) {
  const { REDIS_URL, ...env } = process.env
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...command], {
    cwd, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe']
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill()
    await exited
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => { output.out += String(chunk) })
  child.stderr.on('data', (chunk) => { output.err += String(chunk) })
  /** Waits until it has printed this. */
  const printed = (text: RegExp) => until(() => {
    const [isPrinted, end] = [text.test(output.out), child.exitCode ?? child.signalCode]
    if (!isPrinted && end !== null) throw new Error(`It ended by ${end} before it printed ${text}:\n${output.err}`)
    return isPrinted
  })
  return { child, output, printed }
}

/** A host in a process of its own. */
export async function startHostProcess (t: Teardown, options: object): Promise<{ process: ChildProcess, url: string }> {
  const program = fileURLToPath(new URL('host-process.js', import.meta.url))
  const { child, output, printed } = started(t, [process.execPath, program, JSON.stringify(options)])
  await printed(/\n/)
  return { process: child, url: output.out.trim() }
}
