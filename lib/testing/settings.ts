import { type Injectable, inProcess, overHttp } from './transport.ts'
import { type Send } from './wire.ts'

/** OAuth level of the integration (spec §2.3). */
export type Level = 'partner' | 'client'

/** What the portal knows of a partner's service. */
export interface PortalSettings {
  /** The OAuth client identifier that the service expects. */
  clientId: string
  /** The OAuth client secret that the service expects. Masked in everything that is recorded. */
  clientSecret: string
  /** The portal callback URL, exactly as it is registered at the service. Nothing needs to listen there. */
  redirectUri: string
  /** Path before `/oauth/…`, as the plugin was registered with. Default: none. */
  prefix?: string
  /** Which users the service may supply (spec §2.3). Default `partner`. */
  level?: Level
  /** Credentials in the form body (spec §5.2), or as HTTP Basic (RFC 6749 §2.3.1). Default `form`. */
  clientAuthentication?: 'form' | 'basic'
  /** Sends a `code_challenge` with method S256 (RFC 7636). Default false. */
  pkce?: boolean
  /** Milliseconds that one answer may take. Default 5000. */
  timeout?: number
}

/** The service: a Fastify app called in-process, or the base URL of a running server. */
export type PortalOptions = PortalSettings & (
  | { app: Injectable, baseUrl?: never }
  | { baseUrl: string, app?: never }
)

/** Options checked and completed, with the three addresses of spec §1.6. */
export interface Integration extends Required<Omit<PortalSettings, 'prefix'>> {
  base: URL
  authorizeUrl: string
  tokenUrl: string
  userUrl: string
  send: Send
}

const IN_PROCESS = 'http://localhost'

/**
 * Checks the options and completes them.
 *
 * @throws TypeError that names the option and says what it wants
 */
export function integration (options: PortalOptions): Integration {
  for (const name of ['clientId', 'clientSecret', 'redirectUri'] as const) demand(typeof options[name] === 'string' && options[name] !== '', name, 'a non-empty string')
  const { timeout = 5000, level = 'partner', clientAuthentication = 'form', pkce = false, prefix = '' } = options
  demand(Number.isFinite(timeout) && timeout > 0, 'timeout', 'a positive number of milliseconds')
  demand(level === 'partner' || level === 'client', 'level', '\'partner\' or \'client\'')
  demand(clientAuthentication === 'form' || clientAuthentication === 'basic', 'clientAuthentication', '\'form\' or \'basic\'')
  demand(URL.canParse(options.redirectUri), 'redirectUri', 'an absolute URL')
  const { clientId, clientSecret, redirectUri } = options
  const base = baseOf(options, prefix)
  const endpoint = (name: string) => `${base.href.replace(/\/$/, '')}/oauth/${name}`
  const send = options.app === undefined ? overHttp(timeout) : inProcess(options.app, timeout)
  return {
    clientId,
    clientSecret,
    redirectUri,
    timeout,
    level,
    clientAuthentication,
    pkce,
    base,
    send,
    authorizeUrl: endpoint('authorize'),
    tokenUrl: endpoint('token'),
    userUrl: endpoint('user')
  }
}

function baseOf ({ app, baseUrl }: PortalOptions, prefix: string): URL {
  demand((app === undefined) !== (baseUrl === undefined), 'app', 'a Fastify app, or baseUrl instead: exactly one of the two')
  const text = baseUrl ?? IN_PROCESS
  demand(/^https?:\/\//.test(text) && URL.canParse(text), 'baseUrl', 'an absolute http or https URL')
  const url = new URL(text)
  demand(url.search === '' && url.hash === '', 'baseUrl', 'a URL without query and fragment')
  const path = [url.pathname, prefix].map((part) => part.replace(/^\/+|\/+$/g, '')).filter((part) => part !== '').join('/')
  return new URL(`/${path}`, url)
}

function demand (holds: boolean, option: string, wants: string): asserts holds {
  if (!holds) throw new TypeError(`portal(): option "${option}" must be ${wants}`)
}
