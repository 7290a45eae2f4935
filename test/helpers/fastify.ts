// The Fastify that the hosts of the tests are made with. The environment variable FASTIFY names another than the
// installed one: a package (`fastify-5.0`), or the URL of a module.
import type { fastify, FastifyServerOptions } from 'fastify'

export type Factory = typeof fastify

export const { default: Fastify } = await import(process.env.FASTIFY ?? 'fastify') as { default: Factory }

/** Server options that hold these router options. Fastify reads them at the top level before 5.5. */
export function routerOptions (
  options: NonNullable<FastifyServerOptions['routerOptions']>, factory = Fastify
): FastifyServerOptions {
  const [major = 0, minor = 0] = factory().version.split('.').map(Number)
  return major > 5 || minor >= 5 ? { routerOptions: options } : options as FastifyServerOptions
}
