import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { PartnerSsoOptions } from '../../../lib/index.ts'

interface Teardown { teardown (stop: () => unknown): void }

export interface HostProcess {
  url: string
  /** How often each outcome was reported in this process, as `type reason`. */
  reasons (): Promise<Record<string, number>>
  /** Bytes of heap in use after a garbage collection. */
  heap (): Promise<number>
  /** Whether it is still there. */
  alive (): boolean
}

interface State { url: string, reasons: Record<string, number>, heap: number }

/** Starts the partner's app in processes of their own. */
export async function startProcesses (
  t: Teardown,
  number: number,
  options: Pick<PartnerSsoOptions, 'redis' | 'keyPrefix' | 'storeTimeout' | 'loginPage'>
): Promise<HostProcess[]> {
  return await Promise.all(
    Array.from({ length: number }, async () => {
      const child = fork(new URL('host-process.ts', import.meta.url), [JSON.stringify(options)], {
        execArgv: [...process.execArgv, '--expose-gc'],
        // TypeScript is compiled by what execArgv imports; tap's own compiler stays out.
        env: { ...process.env, TAP_TYPE_STRIP_ONLY: '1' }
      })
      t.teardown(() => child.kill())
      const { url } = await message(child)
      const ask = async () => {
        child.send('how are you?')
        return await message(child)
      }
      return {
        url,
        reasons: async () => (await ask()).reasons,
        heap: async () => (await ask()).heap,
        alive: () => child.exitCode === null && child.signalCode === null
      }
    })
  )
}

async function message (child: ChildProcess): Promise<State> {
  const [state] = await once(child, 'message') as [State]
  return state
}
