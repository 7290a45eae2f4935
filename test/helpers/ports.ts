import { randomInt } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Test processes run beside each other: an empty folder claims the port for this one. */
const claims = new Set<string>()
process.once('exit', () => { for (const claim of claims) rmdirSync(claim) })

/**
 * A TCP port that nothing listens on, never the same twice in the test processes of this machine. It lies below those
 * that the system gives to outgoing connections, which could take it before the server does that it is meant for.
 * The same is true of the port 10,000 above it, which a Redis in a cluster uses for its bus. `fetch` and browsers
 * refuse port 10080, and no other of these.
 */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = randomInt(10_100, 20_000)
    if (!claim(port)) continue
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await new Promise<boolean>((resolve) =>
      server.once('listening', () => resolve(true)).once('error', () => resolve(false)))
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/** A process that was killed leaves its claims behind: there are 9,900 ports. */
function claim (port: number): boolean {
  const folder = join(tmpdir(), `partner-sso-port-${port}`)
  try {
    mkdirSync(folder)
  } catch {
    return false
  }
  claims.add(folder)
  return true
}
