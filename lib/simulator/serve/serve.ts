import { once } from 'node:events'
import { type FastifyInstance } from 'fastify'
import { type Integration } from '../../testing/settings.ts'
import { simulator } from './app.ts'
import { openBrowser } from './open-browser.ts'
import { CannotRun, type Flag, flagsHelp, readFlags, type Values } from '../flags.ts'
import {
  BASE_URL, BASIC, CLIENT_ID, CLIENT_SECRET, HELP, integrationOf, LEVEL, PKCE, TIMEOUT
} from '../integration-flags.ts'
import { type Surroundings } from '../surroundings.ts'

const FLAGS: Flag[] = [
  BASE_URL, CLIENT_ID, CLIENT_SECRET, LEVEL,
  {
    name: 'port',
    value: 'number',
    variable: 'PORTAL_PORT',
    fallback: '4180',
    meaning: 'Port of the simulator.'
  },
  {
    name: 'host',
    value: 'address',
    variable: 'PORTAL_HOST',
    fallback: 'localhost',
    meaning: 'Address that the simulator listens at.'
  },
  {
    name: 'public-url',
    value: 'url',
    variable: 'PORTAL_PUBLIC_URL',
    meaning: 'Where browsers reach the simulator. Default: the port at 127.0.0.1, or at localhost where your service ' +
      'is at 127.0.0.1, so that the two are different sites for cookies, as they are in production.'
  },
  {
    name: 'redirect-uri',
    value: 'url',
    variable: 'PORTAL_REDIRECT_URI',
    meaning: 'The callback; it must lead to the simulator. Default: /oauth/callback under the public URL.'
  },
  {
    name: 'credentials',
    value: 'name',
    variable: 'PORTAL_CREDENTIALS',
    fallback: 'local',
    meaning: 'The end of the login_url, /external-oauth/<name>.'
  },
  {
    name: 'code-lifetime',
    value: 'seconds',
    variable: 'PORTAL_CODE_LIFETIME',
    fallback: '60',
    meaning: 'How long a code is valid at the service. The trial of an expired code waits one second longer.'
  },
  BASIC, PKCE, TIMEOUT,
  { name: 'open', meaning: 'Open the start page in the browser.' },
  HELP
]

export const SERVE_HELP = `Usage: partner-sso-portal serve --base-url <url> [flags]

A web page that plays the portal against a service: it starts sign-ins, redeems the code and the token, and shows each
of the fifteen steps.

Flags:
${flagsHelp(FLAGS)}

Example:
  PORTAL_CLIENT_SECRET=… partner-sso-portal serve --base-url http://localhost:3000 --client-id partner-123 --open
`

/**
 * The command `serve`. Runs until it is stopped.
 *
 * @throws CannotRun
 */
export async function serve (argv: string[], { env, out, err, stop }: Surroundings): Promise<number> {
  const values = readFlags(FLAGS, argv, env)
  const port = values.number('port', 1, 65_535)
  const publicUrl = originOf(values, 'public-url') ?? otherSite(values.text('base-url'), port)
  const redirectUri = values.text('redirect-uri') ?? `${publicUrl}/oauth/callback`
  const portal = integrationOf(values, redirectUri)
  const loginUrl = `${publicUrl}/external-oauth/${encodeURIComponent(values.needed('credentials', HELP))}`
  const app = await simulator({ portal, loginUrl, codeLifetime: values.number('code-lifetime', 0, 3600) })
  await listen(app, values.needed('host', HELP), port)
  out(greeting(publicUrl, loginUrl, portal))
  if (new URL(redirectUri).origin !== publicUrl) {
    err(`The redirect_uri ${redirectUri} is not under ${publicUrl}: sign-ins come back only if it leads here.\n`)
  }
  if (values.on('open')) openBrowser(publicUrl, env).catch((error: Error) => { err(notOpened(publicUrl, error)) })
  if (!stop.aborted) await once(stop, 'abort')
  await app.close()
  return 0
}

/**
 * The simulator's own origin. Browsers take localhost and 127.0.0.1 for two sites: a session cookie with
 * SameSite=Strict then fails here as it fails in production.
 */
function otherSite (baseUrl: string | undefined, port: number): string {
  const hostname = URL.canParse(String(baseUrl)) ? new URL(String(baseUrl)).hostname : ''
  return `http://${/(?:^|\.)localhost$/.test(hostname) ? '127.0.0.1' : 'localhost'}:${port}`
}

function originOf (values: Values, name: string): string | undefined {
  const text = values.text(name)
  if (text === undefined) return undefined
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new CannotRun(`--${name} must be an absolute http or https URL.`)
  }
  return new URL(text).origin
}

async function listen (app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new CannotRun(code === 'EADDRINUSE'
      ? `Port ${port} is in use. Choose another one with --port or PORTAL_PORT.`
      : `The simulator cannot listen at ${host}:${port}: ${message}`)
  }
}

const notOpened = (url: string, { message }: Error): string =>
  `The browser could not be opened (${message}). Open ${url} yourself.\n`

const greeting = (publicUrl: string, loginUrl: string, portal: Integration): string => `The portal runs at ${publicUrl}

Your service needs:
  login_url      ${loginUrl}
  client_id      ${portal.clientId}
  client_secret  (as given)
  redirect_uri   ${portal.redirectUri}

It calls ${portal.authorizeUrl}, ${portal.tokenUrl} and ${portal.userUrl}.
Press Ctrl-C to stop.
`
