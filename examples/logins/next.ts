import type { FastifyRequest } from 'fastify'

/** Where to go after the login: the path in `next`, or the home page. */
export function nextOf ({ query }: FastifyRequest): string {
  const { next } = query as { next?: unknown }
  // Nothing but a path of this app: browsers take `//x.example`, `/\x.example` and `/<tab>/x.example` for other sites.
  return typeof next === 'string' && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
}
