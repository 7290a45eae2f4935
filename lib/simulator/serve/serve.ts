import { once } from 'node:events'
import { type FastifyInstance } from 'fastify'
import { type Integration } from '../../testing/settings.ts'
import { simulator } from './app.ts'
import { CannotRun, type Flag, flagsHelp, readFlags, type Values } from '../flags.ts'
import { BASE_URL, BASIC, CLIENT_ID, CLIENT_SECRET, HELP, integrationOf, LEVEL, PKCE, TIMEOUT } from '../integration-flags.ts'
import { type Surroundings } from '../surroundings.ts'

const FLAGS: Flag[] = [
  BASE_URL, CLIENT_ID, CLIENT_SECRET, LEVEL,
  { name: 'port', value: 'number', variable: 'PORTAL_PORT', fallback: '4180', meaning: 'Port of the simulator.' },
  { name: 'host', value: 'address', variable: 'PORTAL_HOST', fallback: 'localhost', meaning: 'Address that the simulator listens at.' },
  { name: 'public-url', value: 'url', variable: 'PORTAL_PUBLIC_URL', meaning: 'Where browsers reach the simulator; http://localhost and the port unless given.' },
  { name: 'redirect-uri', value: 'url', variable: 'PORTAL_REDIRECT_URI', meaning: 'The callback; /oauth/callback under the public URL unless given. It must lead to the simulator.' },
  { name: 'credentials', value: 'name', variable: 'PORTAL_CREDENTIALS', fallback: 'local', meaning: 'The end of the start URL, /external-oauth/<name>.' },
  { name: 'code-lifetime', value: 'seconds', variable: 'PORTAL_CODE_LIFETIME', fallback: '60', meaning: 'How long a code lives at the service: the trial of an expired code waits so long.' },
  BASIC, PKCE, TIMEOUT,
  { name: 'open', meaning: 'Print the address and nothing else, for a command that opens it.' },
  HELP
]

export const SERVE_HELP = `Usage: partner-sso-portal serve --base-url <url> [flags]

A web page that plays the portal against a service: it starts sign-ins, takes them back, redeems the code and the
token, and shows each of the fifteen steps.

Flags:
${flagsHelp(FLAGS)}

Example:
  PORTAL_CLIENT_SECRET=… partner-sso-portal serve --base-url http://localhost:3000 --client-id partner-123
`

/**
 * The command `serve`. Runs until it is stopped.
 *
 * @throws CannotRun
 */
export async function serve (argv: string[], { env, out, err, stop }: Surroundings): Promise<number> {
  const values = readFlags(FLAGS, argv, env)
  const port = values.number('port', 1, 65_535)
  const publicUrl = urlOf(values, 'public-url') ?? `http://localhost:${port}/`
  const redirectUri = values.text('redirect-uri') ?? new URL('/oauth/callback', publicUrl).href
  const portal = integrationOf(values, redirectUri)
  const loginUrl = new URL(`/external-oauth/${encodeURIComponent(values.needed('credentials', HELP))}`, publicUrl).href
  const app = await simulator({ portal, loginUrl, codeLifetime: values.number('code-lifetime', 0, 3600) })
  await listen(app, values.needed('host', HELP), port)
  out(values.on('open') ? `${publicUrl}\n` : greeting(publicUrl, loginUrl, portal))
  if (new URL(redirectUri).origin !== new URL(publicUrl).origin) err(`The redirect_uri ${redirectUri} is not under ${publicUrl}: sign-ins come back only if it leads here.\n`)
  if (!stop.aborted) await once(stop, 'abort')
  await app.close()
  return 0
}

function urlOf (values: Values, name: string): string | undefined {
  const text = values.text(name)
  if (text === undefined) return undefined
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new CannotRun(`--${name} must be an absolute http or https URL.`)
  return new URL('/', text).href
}

async function listen (app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new CannotRun(code === 'EADDRINUSE' ? `Port ${port} is in use: choose another with --port.` : `The simulator cannot listen at ${host}:${port}: ${message}`)
  }
}

const greeting = (publicUrl: string, loginUrl: string, portal: Integration): string => `The portal runs at ${publicUrl}

Your service needs:
  login_url      ${loginUrl}
  client_id      ${portal.clientId}
  client_secret  (as given)
  redirect_uri   ${portal.redirectUri}

It calls ${portal.authorizeUrl}, ${portal.tokenUrl} and ${portal.userUrl}.
Press Ctrl-C to stop.
`
