// The sessions of these logins, by @fastify/session.
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'

declare module 'fastify' {
  interface Session {
    /** The user who is logged in. It is set when the whole login has succeeded, not after the password alone. */
    userId?: string
  }
}

/** They are in the memory of this process. With several processes give @fastify/session a `store`. */
export async function addSessions (app: FastifyInstance, secret: string, path = '/'): Promise<void> {
  await app.register(cookie, { secret })
  await app.register(session, {
    secret,
    saveUninitialized: false,
    cookie: {
      path,
      httpOnly: true,
      // Not Strict: the portal redirects the browser here from another site, and the session must come with it.
      sameSite: 'lax',
      // Secure over https. Where a proxy ends TLS, Fastify must know it: `trustProxy`.
      secure: 'auto',
      maxAge: 8 * 60 * 60 * 1000
    }
  })
}

export function currentUser ({ session }: FastifyRequest): User | null {
  return userWith(session.userId)
}

/** Logs a user in, in a session of a new name: the old one may be known to somebody else (session fixation). */
export async function logIn (request: FastifyRequest, { id }: User): Promise<void> {
  await request.session.regenerate()
  request.session.userId = id
}

/**
 * Whether a page of another site has sent this: it could log the user in as the attacker, or out. Over https every
 * browser of today sends the header; a program has none.
 */
export function isFromOtherSite ({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site = 'none' } = headers
  return site !== 'same-origin' && site !== 'none'
}

/** The hook of a route that changes who is logged in. */
export async function sameOrigin (request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (isFromOtherSite(request)) await reply.code(403).send('Sent by another site')
}

/** Sends a page that Back must ask for again: another user may have logged in. */
export function html (reply: FastifyReply, page: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(page)
}
