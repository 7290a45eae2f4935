import type { FastifyBaseLogger, FastifyInstance, RouteShorthandOptions } from 'fastify'

/** Reports a problem of the configuration at start. */
export type Warn = (message: string) => void

/** Warns once of each problem: by the log, or by the process where the log is off, as NestJS has it by default. */
export function startupWarnings (log: FastifyBaseLogger): Warn {
  const warned = new Set<string>()
  return (message) => {
    if (warned.has(message)) return
    warned.add(message)
    log.warn(message)
    if (!isWritten(log, 'warn')) process.emitWarning(message, 'PartnerSsoWarning')
  }
}

const SILENT = 'partner-sso: the logger is off and there is no onEvent: what currentUser or portalEligibility throws ' +
  'is lost. Set onEvent (its third argument is the cause), or turn on the logger'

/** Without log and `onEvent` the portal gets `server_error`, and the cause is lost. */
export function warnOfSilence (log: FastifyBaseLogger, onEvent: unknown, warn: Warn): void {
  if (onEvent === undefined && !isWritten(log, 'error')) warn(SILENT)
}

const UNLIMITED = 'partner-sso: routeOptions has a config.rateLimit, but @fastify/rate-limit is not registered ' +
  'before the plugin: no request is limited, since it adds itself to later routes only. Register it first'

/** Warns of a `config.rateLimit` that has no effect. */
export function warnOfRateLimit (
  app: Pick<FastifyInstance, 'hasDecorator'>, routeOptions: Record<string, RouteShorthandOptions>, warn: Warn
): void {
  const options = Object.values<{ config?: { rateLimit?: unknown } }>(routeOptions)
  const isLimited = options.some(({ config }) => config?.rateLimit)
  if (isLimited && !app.hasDecorator('rateLimit')) warn(UNLIMITED)
}

/** With `logger: false`, Fastify's logger has no level, and one empty function for all of its methods. */
function isWritten (
  log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }, level: 'warn' | 'error'
): boolean {
  if (typeof log.isLevelEnabled === 'function') return log.isLevelEnabled(level)
  return log.level !== 'silent' && log.warn !== log.trace
}
