import { integration } from '../testing/settings.ts'
import type { Integration, Level } from '../testing/settings.ts'
import { CannotRun, needed, numberOf } from './flags.ts'
import type { Process } from './process.ts'

/** The flags that describe the service and how the portal calls it. */
export const INTEGRATION_FLAGS = {
  'base-url': { type: 'string' },
  'client-id': { type: 'string' },
  'client-secret': { type: 'string' },
  level: { type: 'string', default: 'partner' },
  basic: { type: 'boolean', default: false },
  pkce: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '5' }
} as const

/** Values of these flags, as `readFlags` returns them. */
interface IntegrationValues {
  'base-url'?: string | undefined
  'client-id'?: string | undefined
  'client-secret'?: string | undefined
  level: string
  basic: boolean
  pkce: boolean
  timeout: string
}

export const INTEGRATION_HELP = `\
  --base-url <url>          where the service runs, without /oauth/… (or PORTAL_BASE_URL)
  --client-id <id>          the client_id that the service expects (or PORTAL_CLIENT_ID)
  --client-secret <secret>  its client_secret. Better give it in PORTAL_CLIENT_SECRET: every user of the
                            machine can see the flags of a process
  --level <level>           OAuth level of the integration: partner (default) or client
  --basic                   send the credentials as HTTP Basic instead of in the form
  --pkce                    send a code_challenge (S256)
  --timeout <seconds>       the longest that one response may take (default 5)`

/**
 * The integration that the flags and the environment describe.
 *
 * @throws CannotRun when a value is missing or bad
 */
export function integrationOf (values: IntegrationValues, env: Process['env'], redirectUri: string): Integration {
  const given = (flag: 'base-url' | 'client-id' | 'client-secret', variable: string): string =>
    needed(flag, values[flag] ?? env[variable], variable)
  if (!['partner', 'client'].includes(values.level)) throw new CannotRun('--level must be partner or client.')
  const settings = {
    baseUrl: given('base-url', 'PORTAL_BASE_URL'),
    clientId: given('client-id', 'PORTAL_CLIENT_ID'),
    clientSecret: given('client-secret', 'PORTAL_CLIENT_SECRET'),
    redirectUri,
    level: values.level as Level,
    clientAuthentication: values.basic ? 'basic' as const : 'form' as const,
    pkce: values.pkce,
    timeout: numberOf('timeout', values.timeout, 0.1, 600) * 1000
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
