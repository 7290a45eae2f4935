// Starts the partner's application and, beside it, a portal to sign in to: `npm start`.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { partnerApp } from './partner-app.js'

const [port, portalPort] = [Number(process.env.PORT ?? 3000), Number(process.env.PORTAL_PORT ?? 3001)]
const [url, portalUrl] = [`http://localhost:${port}`, `http://localhost:${portalPort}`]
const clientSecret = randomBytes(24).toString('base64url')

const app = await partnerApp({
  portal: {
    loginUrl: `${portalUrl}/external-oauth/demo`,
    clientId: 'acme-payments',
    clientSecret,
    redirectUri: `${portalUrl}/oauth/callback`
  },
  cookieSecret: randomBytes(32).toString('hex'),
  ...(process.env.REDIS_URL === undefined ? {} : { redis: process.env.REDIS_URL })
})
await app.listen({ port, host: 'localhost' })

// The portal runs in a process of its own, as it does in life: it knows the application by its three URLs only.
const portal = spawn(process.execPath, [
  fileURLToPath(new URL('simulator/main.js', import.meta.resolve('fastify-partner-sso'))), 'serve',
  '--base-url', url, '--client-id', 'acme-payments', '--credentials', 'demo', '--port', String(portalPort)
], { env: { ...process.env, PORTAL_CLIENT_SECRET: clientSecret }, stdio: 'inherit' })

console.log(`\nThe partner's application: ${url}\nThe portal:                ${portalUrl}\n`)

const stop = () => {
  portal.kill()
  app.close().catch((error) => { console.error(error) })
}
process.once('SIGINT', stop).once('SIGTERM', stop)
portal.once('exit', stop)
