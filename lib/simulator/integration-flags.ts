import { createIntegration } from '../flow/integration.ts'
import type { Level } from '../flow/integration.ts'
import { CannotRun, needed, numberOf, variableOf } from './flags.ts'
import type { readFlags } from './flags.ts'

/** The flags that describe the service and how the portal calls it. */
export const INTEGRATION_FLAGS = {
  'base-url': { type: 'string' },
  'client-id': { type: 'string' },
  'client-secret': { type: 'string' },
  'redirect-uri': { type: 'string' },
  level: { type: 'string', default: 'partner' },
  basic: { type: 'boolean', default: false },
  pkce: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '5' }
} as const

type Values = ReturnType<typeof readFlags<typeof INTEGRATION_FLAGS>>

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
 * @param redirectUri - that of the flag: `check` needs it, `serve` has a default
 * @throws CannotRun when a value is missing or bad
 */
export function integrationOf (values: Values, env: NodeJS.ProcessEnv, redirectUri: string) {
  const given = (flag: 'base-url' | 'client-id' | 'client-secret'): string => {
    const variable = variableOf(flag)
    return needed(flag, values[flag] ?? env[variable], ` (or the environment variable ${variable})`)
  }
  const service = {
    baseUrl: given('base-url'),
    clientId: given('client-id'),
    clientSecret: given('client-secret'),
    timeout: numberOf('timeout', values.timeout, 0.1, 600) * 1000
  }
  try {
    return createIntegration({
      ...service,
      redirectUri,
      level: values.level as Level,
      clientAuthentication: values.basic ? 'basic' : 'form',
      pkce: values.pkce
    })
  } catch (error) {
    // `portal(): option "baseUrl" must be …`
    const [, option = '', complaint] = (error as Error).message.split('"')
    const flag = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    throw new CannotRun(`--${flag}${complaint}.`)
  }
}
