import { integration, type Integration } from '../testing/settings.ts'
import { CannotRun, type Flag, type Values } from './flags.ts'

export const BASE_URL: Flag = {
  name: 'base-url',
  value: 'url',
  variable: 'PORTAL_BASE_URL',
  meaning: 'Where the service runs; /oauth/authorize, /oauth/token and /oauth/user are added.'
}

export const CLIENT_ID: Flag = {
  name: 'client-id',
  value: 'id',
  variable: 'PORTAL_CLIENT_ID',
  meaning: 'The client_id that the service expects.'
}

export const CLIENT_SECRET: Flag = {
  name: 'client-secret',
  value: 'secret',
  variable: 'PORTAL_CLIENT_SECRET',
  meaning: 'The client_secret that the service expects. ' +
    'Prefer the variable: the list of processes shows the flags of each.'
}

export const LEVEL: Flag = {
  name: 'level',
  value: 'partner|client',
  variable: 'PORTAL_LEVEL',
  fallback: 'partner',
  meaning: 'OAuth level of the integration.'
}

export const BASIC: Flag = {
  name: 'basic',
  variable: 'PORTAL_BASIC',
  meaning: 'Send the credentials as HTTP Basic and not in the form.'
}

export const PKCE: Flag = {
  name: 'pkce',
  variable: 'PORTAL_PKCE',
  meaning: 'Send a code_challenge (S256).'
}

export const TIMEOUT: Flag = {
  name: 'timeout',
  value: 'seconds',
  variable: 'PORTAL_TIMEOUT',
  fallback: '5',
  meaning: 'The longest that one response may take.'
}

export const HELP: Flag = { name: 'help', meaning: 'Print this help.' }

/**
 * The integration that the flags describe.
 *
 * @throws CannotRun when one is missing or bad
 */
export function integrationOf (values: Values, redirectUri: string): Integration {
  const settings = {
    baseUrl: values.needed('base-url', BASE_URL),
    clientId: values.needed('client-id', CLIENT_ID),
    clientSecret: values.needed('client-secret', CLIENT_SECRET),
    redirectUri,
    level: values.oneOf('level', ['partner', 'client']),
    clientAuthentication: values.on('basic') ? 'basic' as const : 'form' as const,
    pkce: values.on('pkce'),
    timeout: values.number('timeout', 0.1, 600) * 1000
  }
  try {
    return integration(settings)
  } catch (error) {
    throw new CannotRun(inFlags((error as Error).message))
  }
}

/** `portal(): option "baseUrl" must be …` said in the words of the command line. */
function inFlags (message: string): string {
  const flag = (option: string): string => `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return `${message.replace(/^.* option "(\w+)"/, (_all, option: string) => flag(option))}.`
}
