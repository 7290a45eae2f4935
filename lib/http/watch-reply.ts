import type { FastifyReply, FastifyRequest } from 'fastify'

/** The result of a function of the host that has sent the response. */
export const REPLIED = Symbol('partner-sso: the host has replied')

/**
 * Calls a function of the host that may send the response and return `reply`. Returns what it returned, or `REPLIED`,
 * also where `handlerTimeout` expired meanwhile.
 */
export async function callHost<T> (reply: FastifyReply, call: () => T): Promise<Awaited<T> | typeof REPLIED> {
  const returned = call()
  if ((returned as unknown) === reply) return REPLIED
  // The promise of an async function that returns `reply` waits until the response is sent, or the browser gone.
  const value = await returned
  const isGone = value === undefined && reply.raw.destroyed
  return isGone || reply.sent || isOverdue(reply.request) ? REPLIED : value
}

/**
 * What a function of the host changes when it sends a response. Where it does not return `reply`, Fastify does not tell
 * of the response (`reply.sent`) until the host's `onSend` hooks have run.
 */
export function headOf (reply: FastifyReply): string {
  return `${reply.getHeader('location')} ${reply.getHeader('content-type')}`
}

/**
 * Whether `handlerTimeout` expired: Fastify has responded. Without a `handlerTimeout`, `signal` is not read: its getter
 * creates it, which is expensive.
 */
export function isOverdue (request: FastifyRequest): boolean {
  return Boolean(request.routeOptions.handlerTimeout) && request.signal.reason?.code === 'FST_ERR_HANDLER_TIMEOUT'
}
