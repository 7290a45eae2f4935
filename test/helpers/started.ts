import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

interface Teardown { teardown (stop: () => unknown): void }

/**
 * Lets a server of the tests end with this process, however that ends: tap kills one that exceeds its time limit, and
 * all others when a test bails. The shell waits for a line, and gets the end of its input instead.
 */
export function endsWithUs (server: ChildProcess): void {
  const guard = spawn('sh', ['-c', `read line || kill -9 ${server.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] })
  guard.unref()
  guard.stdin.on('error', () => {})
  ;(guard.stdin as Socket).unref()
  server.once('exit', () => guard.stdin.end('\n'))
}

/** A program in a process of its own, which ends with the test. */
export type Started = ReturnType<typeof started>

/** Starts a program without REDIS_URL, and without what tap loads into each program of Node: it takes half a second. */
export function started (t: Teardown, command: string[], more: NodeJS.ProcessEnv = {}, cwd = process.cwd()) {
  const { REDIS_URL, ...env } = process.env
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...command], {
    cwd, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe']
  })
  endsWithUs(child)
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

/** The partner's app in a process of its own, with these options of the plugin. Returns its URL. */
export async function startAppProcess (t: Teardown, options: object): Promise<{ process: ChildProcess, url: string }> {
  const program = fileURLToPath(new URL('../app-process.js', import.meta.url))
  const { child, output, printed } = started(t, [process.execPath, program, JSON.stringify(options)])
  await printed(/\n/)
  return { process: child, url: output.out.trim() }
}
