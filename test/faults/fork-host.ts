import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { PORTAL } from '../helpers/host.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** A host in a process of its own, with the package as it is built (npm run build). */
export async function startHostProcess (t: Teardown, options: object): Promise<{ process: ChildProcess, url: string }> {
  const isBuilt = existsSync(new URL('../../dist/index.js', import.meta.url))
  if (!isBuilt) throw new Error('The package is not built: npm run build')
  const given = JSON.stringify({ portal: PORTAL, ...options })
  const child = fork(new URL('host-process.js', import.meta.url), [given], { execArgv: [], env: {} })
  t.teardown(() => child.kill('SIGKILL'))
  const [{ url }] = await once(child, 'message') as [{ url: string }]
  return { process: child, url }
}
