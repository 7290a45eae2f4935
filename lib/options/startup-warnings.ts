import type { FastifyBaseLogger } from 'fastify'

/** Tells the host something at start that it must not miss. */
export type Warn = (message: string) => void

/**
 * Warns by the log, and by `process.emitWarning` where the log does not write warnings: NestJS has it off by default.
 */
export function startupWarnings (log: FastifyBaseLogger): Warn {
  return (message) => {
    log.warn(message)
    if (isOff(log)) process.emitWarning(message, 'PartnerSsoWarning')
  }
}

/** With `logger: false`, Fastify's logger has no level, and one empty function for all of its methods. */
function isOff (log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }): boolean {
  if (typeof log.isLevelEnabled === 'function') return !log.isLevelEnabled('warn')
  return log.level === 'silent' || log.warn === log.trace
}
