import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type PartnerSsoOptions } from '../../../lib/index.ts'

interface Teardown { teardown (stop: () => unknown): void }

export interface HostProcess {
  url: string
  /** How often each outcome was reported in this process, as `type reason`. */
  reasons (): Promise<Record<string, number>>
}

/** Starts the partner's app in processes of their own. */
export async function startProcesses (t: Teardown, number: number, options: Pick<PartnerSsoOptions, 'redis' | 'keyPrefix' | 'storeTimeout'>): Promise<HostProcess[]> {
  return await Promise.all(Array.from({ length: number }, async () => {
    const child = fork(new URL('host-process.ts', import.meta.url), [JSON.stringify(options)])
    t.teardown(() => child.kill())
    const { url } = await answer(child) as { url: string }
    return {
      url,
      async reasons () {
        child.send('reasons')
        return (await answer(child) as { reasons: Record<string, number> }).reasons
      }
    }
  }))
}

async function answer (child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message') as unknown[]
  return message
}

/** The outcomes of all processes together. */
export async function allReasons (hosts: HostProcess[]): Promise<Record<string, number>> {
  const sum: Record<string, number> = {}
  for (const host of hosts) {
    for (const [reason, times] of Object.entries(await host.reasons())) sum[reason] = (sum[reason] ?? 0) + times
  }
  return sum
}
