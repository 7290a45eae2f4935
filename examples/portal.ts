// The portal that the examples run beside the app. In production it is your portal, and these values are its own.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Portal } from 'fastify-partner-sso'

const port = Number(process.env.PORTAL_PORT ?? 3001)
// Not localhost, where the app is: for browsers the app and the portal are two sites, as they are in production.
const url = `http://127.0.0.1:${port}`

/** What the app and the portal know of each other. */
export const portal = {
  loginUrl: `${url}/external-oauth/local`,
  clientId: 'acme-payments',
  clientSecret: process.env.PORTAL_CLIENT_SECRET ?? randomBytes(24).toString('base64url'),
  redirectUri: `${url}/oauth/callback`
} satisfies Portal

/**
 * Starts the portal simulator for an app at this URL; the plugin's routes may be below it. It stops together with this
 * process.
 */
export function startPortal (appUrl: string, prefix = ''): ChildProcess {
  const main = fileURLToPath(new URL('simulator/main.js', import.meta.resolve('fastify-partner-sso')))
  const flags = ['--base-url', appUrl + prefix, '--client-id', portal.clientId, '--port', String(port)]
  const child = spawn(process.execPath, [main, 'serve', ...flags], {
    env: { ...process.env, PORTAL_CLIENT_SECRET: portal.clientSecret },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  process.once('exit', () => { child.kill() })
  child.stdout.once('data', () => console.log(`The app:    ${appUrl}\nThe portal: ${url}`))
  return child
}
