import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

interface Teardown { teardown (stop: () => unknown): void }

/** A host in a process of its own. */
export async function startHostProcess (t: Teardown, options: object): Promise<{ process: ChildProcess, url: string }> {
  const program = fileURLToPath(new URL('host-process.js', import.meta.url))
  const child = fork(program, [JSON.stringify(options)], { silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(() => { throw new Error('The host ended before it listened') })
  const [url] = await Promise.race([once(child, 'message'), ended]) as [string]
  return { process: child, url }
}
