// A login that has begun at an identity provider, and where it leads, in a signed cookie of ten minutes. It is not in
// the session: everybody who opens the login page would get one, for hours, and a stranger could fill the memory.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** One for each tab. */
export interface PendingLogin { state: string, next: string, nonce?: string, verifier?: string }

/** Seconds that a user may take at the identity provider. */
const LIFETIME = 600
/** The most tabs that log in at the same time: their cookies must fit into the header of one request. */
const MOST = 3
const NAME = 'login-'

/** Remembers a login in the browser that has begun it. */
export function beginLogin (request: FastifyRequest, reply: FastifyReply, login: PendingLogin): void {
  // Browsers send the oldest cookie first.
  const names = Object.keys(request.cookies).filter((name) => name.startsWith(NAME))
  for (const name of names.slice(0, 1 - MOST)) reply.clearCookie(name, attributes(request))
  const text = JSON.stringify({ ...login, expires: Date.now() + LIFETIME * 1000 })
  const value = NAME + Buffer.from(text).toString('base64url')
  reply.setCookie(NAME + login.state, value, { ...attributes(request), signed: true, maxAge: LIFETIME })
}

/**
 * The login that this browser has begun with this state, once. Undefined means that another browser began it, or that
 * it is over: a link may want to log its reader in as the attacker.
 */
export function endLogin (
  request: FastifyRequest, reply: FastifyReply, state: string | undefined
): PendingLogin | undefined {
  const name = `${NAME}${state}`
  const cookie = request.cookies[name]
  if (cookie === undefined) return undefined
  reply.clearCookie(name, attributes(request))
  const { valid, value } = request.unsignCookie(cookie)
  // Other cookies are signed with the same key.
  if (!valid || !value.startsWith(NAME)) return undefined
  const text = Buffer.from(value.slice(NAME.length), 'base64url').toString()
  const login = JSON.parse(text) as PendingLogin & { expires: number }
  return login.state === state && login.expires > Date.now() ? login : undefined
}

function attributes ({ protocol }: FastifyRequest) {
  return { path: '/login', httpOnly: true, sameSite: 'lax', secure: protocol === 'https' } as const
}
