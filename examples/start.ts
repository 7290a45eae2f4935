// `npm start`, in a clone: the partner's application and, beside it, a portal to sign in to.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import pretty from 'pino-pretty'
import { partnerApp } from './partner-app.ts'

const port = await freePort('PORT', 3000)
const portalPort = await freePort('PORTAL_PORT', 3001)

// Two host names of this machine: for browsers the application and the portal are two sites, as they are in production.
const url = `http://localhost:${port}`
const portalUrl = `http://127.0.0.1:${portalPort}`
const clientSecret = randomBytes(24).toString('base64url')

const app = await partnerApp({
  portal: {
    loginUrl: `${portalUrl}/external-oauth/local`,
    clientId: 'acme-payments',
    clientSecret,
    redirectUri: `${portalUrl}/oauth/callback`
  },
  // A new one at each start: everybody has to log in again. Yours comes from your configuration.
  cookieSecret: randomBytes(32).toString('hex'),
  ...process.env.REDIS_URL && { sso: { redis: process.env.REDIS_URL, store: undefined } },
  logger: {
    stream: pretty({
      sync: true,
      translateTime: 'HH:MM:ss',
      ignore: 'pid,hostname,req,res,reqId,requestId,responseTime,event,clientId',
      messageFormat: ({ msg, req, res }) => requestLine(req as Request) ?? responseLine(res as Response) ?? String(msg),
      singleLine: true
    })
  }
})
await app.listen({ port, host: 'localhost' })

// The portal runs in a process of its own: it knows the application by the URLs of its three endpoints.
const main = fileURLToPath(new URL('simulator/main.js', import.meta.resolve('fastify-partner-sso')))
const flags = ['--base-url', url, '--client-id', 'acme-payments', '--port', String(portalPort)]
const portal = spawn(process.execPath, [main, 'serve', ...flags, ...process.argv.slice(2)], {
  env: { ...process.env, PORTAL_CLIENT_SECRET: clientSecret },
  stdio: ['ignore', 'pipe', 'inherit']
})
portal.stdout.once('data', () => {
  console.log(`
The partner's application  ${url}
The portal                 ${portalUrl}

Open the portal, press Sign in, and log in to the application as Ada. Press Ctrl-C to stop.
`)
})

const stop = () => {
  portal.kill()
  app.close().catch((error) => { console.error(error) })
}
process.once('SIGINT', stop).once('SIGTERM', stop)
portal.once('exit', (code) => {
  process.exitCode = code === 0 ? 0 : 1
  stop()
})

interface Request { method: string, url: string }
interface Response { statusCode: number }

function requestLine (request?: Request): string | undefined {
  return request === undefined ? undefined : `${request.method} ${request.url.split('?')[0]}`
}

function responseLine (response?: Response): string | undefined {
  return response === undefined ? undefined : `→ ${response.statusCode}`
}

/** The port that the environment names, or the default. Ends the process with one line if it cannot be used. */
async function freePort (variable: string, fallback: number): Promise<number> {
  const text = process.env[variable] || String(fallback)
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) exit(`${variable} must be a port number, not ${text}.`)
  const server = createServer()
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve).listen({ port, host: 'localhost' }, () => { resolve(undefined) })
  })
  const reason = error?.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error?.message})`
  if (error !== undefined) exit(`Port ${port} ${reason}. Choose another one: ${variable}=${port + 100} npm start`)
  await new Promise((resolve) => server.close(resolve))
  return port
}

function exit (line: string): never {
  console.error(line)
  process.exit(1)
}
