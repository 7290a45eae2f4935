import type { FastifyRequest } from 'fastify'

/** The longest `next` that is remembered, in characters: with its cookie it must fit into 4,096 bytes. */
const LONGEST = 2000

/** Where to go after the login: the path in `next`, or the home page. */
export function nextOf ({ query }: FastifyRequest): string {
  const { next } = query as { next?: unknown }
  if (typeof next !== 'string' || next.length > LONGEST) return '/'
  // Nothing but a path of this app: browsers take `//x.example`, `/\x.example` and `/<tab>/x.example` for other sites.
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
}
