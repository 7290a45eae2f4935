import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PORTAL } from '../helpers/host.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** A host in a process of its own, with the package as it is built (npm run build). */
export async function startHostProcess (t: Teardown, options: object): Promise<{ process: ChildProcess, url: string }> {
  const isBuilt = existsSync(new URL('../../dist/index.js', import.meta.url))
  if (!isBuilt) throw new Error('The package is not built: npm run build')
  const given = JSON.stringify({ portal: PORTAL, ...options })
  // tap would have it load its hooks.
  const command = ['-u', 'NODE_OPTIONS', process.execPath, fileURLToPath(new URL('host-process.js', import.meta.url))]
  const child = spawn('env', [...command, given], { stdio: ['ignore', 'inherit', 'ignore', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [{ url }] = await once(child, 'message') as [{ url: string }]
  return { process: child, url }
}
