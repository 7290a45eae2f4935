import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The program that opens a URL in the user's browser, and its arguments. */
export function browserCommand (platform: NodeJS.Platform, url: string): [string, ...string[]] {
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url]
  return ['xdg-open', url]
}

/**
 * Opens a URL in the user's browser, which gets no variable of the integration, so that it has no
 * secret. No shell reads the URL. Rejects on failure.
 */
export async function openBrowser (url: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [program, ...args] = browserCommand(process.platform, url)
  const child = spawn(program, args, {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('PORTAL_'))),
    stdio: 'ignore',
    detached: true,
    windowsHide: true
  })
  child.unref()
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${program} failed`)
}
