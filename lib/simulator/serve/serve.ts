import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Integration } from '../../flow/integration.ts'
import { simulator } from './app.ts'
import { openBrowser } from './open-browser.ts'
import { START } from './trial.ts'
import { CannotRun, needed, numberOf, readFlags } from '../flags.ts'
import { INTEGRATION_FLAGS, INTEGRATION_HELP, integrationOf } from '../integration-flags.ts'
import type { Process } from '../process.ts'

export const FLAGS = {
  ...INTEGRATION_FLAGS,
  port: { type: 'string', default: '4180' },
  host: { type: 'string', default: 'localhost' },
  'public-url': { type: 'string' },
  open: { type: 'boolean', default: false }
} as const

export const SERVE_HELP = `Usage: fastify-partner-sso serve --base-url <url> [flags]

A web page that plays the portal against a service: it starts sign-ins, redeems the code and the token, and shows each
of the fifteen steps.

Flags:
${INTEGRATION_HELP}
  --port <number>           port of the simulator (default 4180)
  --host <address>          address that the simulator listens at (default localhost)
  --public-url <url>        where browsers reach the simulator (default the port at --host, or at 127.0.0.1). Have
                            your service at localhost: then the two are different sites for cookies, as in production
  --redirect-uri <url>      the callback; it must lead to the simulator (default <public-url>/oauth/callback)
  --open                    open the start page in the browser
  --help                    print this help

Example:
  PORTAL_CLIENT_SECRET=… fastify-partner-sso serve --base-url http://localhost:3000 --client-id partner-123 --open
`

/**
 * The command `serve`. Runs until it is stopped.
 *
 * @throws CannotRun
 */
export async function serve (argv: string[], { env, out, err, stop }: Process): Promise<number> {
  const values = readFlags(argv, FLAGS)
  const port = numberOf('port', values.port, 1, 65_535)
  const host = needed('host', values.host)
  const publicUrl = originOf(values['public-url'] ?? `http://${reachedAt(host)}:${port}`)
  const redirectUri = values['redirect-uri'] ?? `${publicUrl}/oauth/callback`
  const integration = integrationOf(values, env, redirectUri)
  const isBehindProxy = values['public-url'] !== undefined
  const app = await simulator({ integration, publicUrl, isBehindProxy, stop }).catch(cannotStart)
  await app.listen({ host, port }).catch(cannotStart)
  out(greeting(publicUrl, integration))
  if (new URL(redirectUri).origin !== publicUrl) {
    err(
      `The redirect_uri ${redirectUri} is not under ${publicUrl}: ` +
      'sign-ins come back only if it leads here.\n'
    )
  }
  if (values.open) {
    openBrowser(publicUrl, env).catch(({ message }: Error) =>
      err(`The browser could not be opened (${message}). Open ${publicUrl} yourself.\n`))
  }
  if (!stop.aborted) await once(stop, 'abort')
  await app.close()
  return 0
}

function cannotStart ({ message }: Error): never {
  throw new CannotRun(`The simulator cannot start: ${message}. Choose another --host, --port or --redirect-uri.`)
}

/** The host in the address of a server that listens there. */
function reachedAt (host: string): string {
  if (['localhost', '0.0.0.0', '::'].includes(host)) return '127.0.0.1'
  return isIPv6(host) ? `[${host}]` : host
}

function originOf (url: string): string {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return new URL(url).origin
  throw new CannotRun('--public-url must be an absolute http or https URL.')
}

const greeting = (publicUrl: string, integration: Integration): string => `\
The portal runs at ${publicUrl}

Your service needs:
  login_url      ${publicUrl}${START}
  client_id      ${integration.clientId}
  client_secret  (as given)
  redirect_uri   ${integration.redirectUri}

It calls ${integration.authorizeUrl}, ${integration.tokenUrl} and ${integration.userUrl}.
Press Ctrl-C to stop.

`
