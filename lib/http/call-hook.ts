import type { FastifyReply, FastifyRequest } from 'fastify'
import { logFailure } from '../events.ts'

/** What became of a call of one of the host's functions. */
export type HookResult<T> =
  /** The host or Fastify has responded, or the browser has left: the plugin does nothing more. */
  | { replied: true }
  /** `hasBegunReply`: the function has also set the status, the type or the location of a response. */
  | { replied: false, value: T, hasBegunReply: boolean }

/**
 * Calls a function of the host that returns a value, or sends a reply of its own and returns `reply`.
 *
 * Where the function does not return the reply that it has sent, Fastify does not tell of it until the host's `onSend`
 * hooks have run (`reply.sent` is false until then). So what the function has changed of the reply counts as well:
 *
 * | The function                              | `reply.sent` | It has set               | Result                 |
 * |-------------------------------------------|--------------|--------------------------|------------------------|
 * | returns `reply`                           | any          | anything                 | replied                |
 * | returns anything else, or throws          | true         | anything                 | replied                |
 * | returns after `handlerTimeout` expired    | any          | anything                 | replied                |
 * | returns undefined, the browser has left   | any          | anything                 | replied                |
 * | returns undefined                         | false        | status, type or location | replied, probably      |
 * | returns null or another falsy value       | false        | type or location         | replied, probably      |
 * | returns null or another falsy value       | false        | status or nothing        | the value              |
 * | returns a value                           | false        | status, type or location | value, `hasBegunReply` |
 * | returns a value                           | false        | nothing                  | value                  |
 * | throws                                    | false        | anything                 | throws                 |
 *
 * "Probably": a function that sets these, sends nothing and returns nobody leaves the browser waiting, as a handler of
 * Fastify does that sends nothing. The other way round, the page that such a function has sent would be lost.
 *
 * @param what - what the log says of a throw
 */
export async function callHook<T> (
  reply: FastifyReply, what: string, call: () => T
): Promise<HookResult<Awaited<T>>> {
  const before = begunOf(reply)
  try {
    const returned = call()
    if ((returned as unknown) === reply) return { replied: true }
    // The promise of an async function that returns `reply` waits until the response is sent, or the browser is gone.
    const value = await returned
    const hasLeft = value === undefined && reply.raw.destroyed
    if (reply.sent || hasLeft || isOverdue(reply.request)) return { replied: true }
    const { status, head } = begunOf(reply)
    const hasSetHead = head !== before.head
    const hasSetStatus = status !== before.status
    // The status alone, with null, may be one that was set and not sent: waiting for its response would hang.
    if (!value && (hasSetHead || (hasSetStatus && value === undefined))) return { replied: true }
    return { replied: false, value, hasBegunReply: hasSetHead || hasSetStatus }
  } catch (cause) {
    if (!reply.sent) throw cause
    logFailure(reply.request, `${what}, after a reply`, cause)
    return { replied: true }
  }
}

/** What a function changes when it sends a response. */
function begunOf (reply: FastifyReply): { status: number, head: string } {
  return { status: reply.statusCode, head: `${reply.getHeader('location')} ${reply.getHeader('content-type')}` }
}

/** Whether `handlerTimeout` expired: Fastify has responded. Fastify before 5.8 has neither the option nor `signal`. */
export function isOverdue (request: FastifyRequest): boolean {
  return Boolean(request.routeOptions.handlerTimeout) && request.signal.reason?.code === 'FST_ERR_HANDLER_TIMEOUT'
}
