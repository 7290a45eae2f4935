import type { FastifyBaseLogger, FastifyInstance, RouteShorthandOptions } from 'fastify'

/** Reports a problem of the configuration. It is a sentence that says what will go wrong and what to do. */
export type Warn = (message: string) => void

const SILENT = 'partner-sso: the logger is off and there is no onEvent: what currentUser or portalEligibility throws ' +
  'is lost. Set onEvent (its third argument is the cause), or turn on the logger'

const UNLIMITED = 'partner-sso: routeOptions has a config.rateLimit, but @fastify/rate-limit is not registered ' +
  'before the plugin: no request is limited, since it adds itself to later routes only. Register it first'

/**
 * The warnings of one registration of the plugin. Each is given once: in the log, and where the log drops warnings, as
 * it does by default in NestJS, also as a warning of the process.
 */
export class StartupWarnings {
  readonly #log: FastifyBaseLogger
  readonly #given = new Set<string>()

  constructor (log: FastifyBaseLogger) {
    this.#log = log
  }

  /** Gives a warning, unless it was given before. It is a property, because other parts get it as a function. */
  readonly warn: Warn = (message) => {
    if (this.#given.has(message)) return
    this.#given.add(message)
    this.#log.warn(message)
    if (!writes(this.#log, 'warn')) process.emitWarning(message, 'PartnerSsoWarning')
  }

  /** Warns where neither the log nor `onEvent` tells what a function of the host throws. */
  warnOfSilence (onEvent: unknown): void {
    if (onEvent === undefined && !writes(this.#log, 'error')) this.warn(SILENT)
  }

  /** Warns where a `config.rateLimit` has no effect. */
  warnOfRateLimit (
    app: Pick<FastifyInstance, 'hasDecorator'>, routeOptions: Record<string, RouteShorthandOptions>
  ): void {
    const options = Object.values<{ config?: { rateLimit?: unknown } }>(routeOptions)
    const isLimited = options.some(({ config }) => config?.rateLimit)
    if (isLimited && !app.hasDecorator('rateLimit')) this.warn(UNLIMITED)
  }
}

/**
 * Tells whether a logger writes lines of a level. With `logger: false`, the logger of Fastify has no level, and all of
 * its methods are the same empty function.
 */
function writes (
  log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }, level: 'warn' | 'error'
): boolean {
  if (typeof log.isLevelEnabled === 'function') return log.isLevelEnabled(level)
  return log.level !== 'silent' && log.warn !== log.trace
}
