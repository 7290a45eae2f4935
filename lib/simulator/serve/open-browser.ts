import { spawn } from 'node:child_process'
import type { Process } from '../process.ts'

/** The program that opens a URL in the user's browser, and its arguments. */
export function browserCommand (platform: NodeJS.Platform, url: string): [program: string, args: string[]] {
  if (platform === 'darwin') return ['open', [url]]
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]]
  return ['xdg-open', [url]]
}

/**
 * Opens a URL in the user's browser. No shell reads the URL.
 *
 * @throws Error that says in a few words why that failed
 */
export async function openBrowser (url: string, env: Process['env']): Promise<void> {
  const [program, args] = browserCommand(process.platform, url)
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true, windowsHide: true })
  child.unref()
  await new Promise<void>((resolve, reject) => {
    child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      reject(new Error(code === 'ENOENT' ? `${program} is not installed` : message))
    })
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} failed`))
    })
  })
}
