import { inProcess, overHttp } from './transport.ts'
import type { Injectable } from './transport.ts'
import type { Send } from './wire.ts'

/** OAuth level of the integration, as set at the portal. */
export type Level = 'partner' | 'client'

/** What the portal knows of a partner's service. */
export interface PortalSettings {
  /** The OAuth client identifier that the service expects. */
  clientId: string
  /** The OAuth client secret that the service expects. Masked in everything that is recorded. */
  clientSecret: string
  /**
   * The portal callback URL, exactly as it is registered at the service. Nothing needs to listen
   * there.
   */
  redirectUri: string
  /** Path before `/oauth/…`, as the plugin was registered with. Default: none. */
  prefix?: string
  /**
   * `partner`: partner users and client users may sign in; `client`: client users only. Default
   * `partner`.
   */
  level?: Level
  /**
   * Where the credentials are sent (RFC 6749 section 2.3.1): in the form body, or as HTTP Basic. Default
   * `form`.
   */
  clientAuthentication?: 'form' | 'basic'
  /** Sends a `code_challenge` with method S256 (RFC 7636). Default false. */
  pkce?: boolean
  /** Milliseconds that one response may take. Default 5000. */
  timeout?: number
}

/** The service: a Fastify app called in-process, or the base URL of a running server. */
export type PortalOptions = PortalSettings & (
  | { app: Injectable, baseUrl?: never }
  | { baseUrl: string, app?: never }
)

/** Options checked and completed, with the addresses of the three endpoints. */
export interface Integration extends Required<Omit<PortalSettings, 'prefix'>> {
  base: URL
  authorizeUrl: string
  tokenUrl: string
  userUrl: string
  send: Send
}

/**
 * Checks the options and completes them.
 *
 * @throws TypeError that names the option and what it must be
 */
export function createIntegration (options: PortalOptions): Integration {
  const {
    app,
    baseUrl = 'http://localhost',
    prefix = '',
    timeout = 5000,
    level = 'partner',
    clientAuthentication = 'form',
    pkce = false,
    ...settings
  } = options
  const rules: Array<[option: keyof PortalOptions, isGood: boolean, wanted: string]> = [
    ['clientId', isText(settings.clientId), 'a non-empty string'],
    ['clientSecret', isText(settings.clientSecret), 'a non-empty string'],
    ['redirectUri', URL.canParse(settings.redirectUri), 'an absolute URL'],
    // Node.js makes one millisecond of a longer delay.
    [
      'timeout',
      Number.isFinite(timeout) && timeout > 0 && timeout < 2 ** 31,
      'a positive number of milliseconds below 2 ** 31'
    ],
    ['level', /^(?:partner|client)$/.test(level), '\'partner\' or \'client\''],
    [
      'clientAuthentication',
      /^(?:form|basic)$/.test(clientAuthentication),
      '\'form\' or \'basic\''
    ],
    [
      'app',
      (app === undefined) !== (options.baseUrl === undefined),
      'a Fastify app, or baseUrl instead: exactly one of the two'
    ],
    [
      'baseUrl',
      /^https?:/.test(baseUrl) && URL.canParse(baseUrl),
      'an absolute http or https URL'
    ],
    ['baseUrl', !/[?#]/.test(baseUrl), 'a URL without query and fragment']
  ]
  for (const [option, isGood, wanted] of rules) {
    if (!isGood) throw new TypeError(`portal(): option "${option}" must be ${wanted}`)
  }
  const base = new URL(baseUrl)
  base.pathname = `${base.pathname}/${prefix}`
    .replace(/\/+/g, '/')
    .replace(/\/$/, '')
  const address = base.href.replace(/\/$/, '')
  return {
    ...settings,
    timeout,
    level,
    clientAuthentication,
    pkce,
    base,
    send: app === undefined ? overHttp(timeout) : inProcess(app, timeout),
    authorizeUrl: `${address}/oauth/authorize`,
    tokenUrl: `${address}/oauth/token`,
    userUrl: `${address}/oauth/user`
  }
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' && value !== ''
