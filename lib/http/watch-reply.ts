import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Returns a function that tells whether a response has been sent since: by `currentUser`, or by Fastify when
 * `handlerTimeout` expired. `reply.sent` alone is false until the host's `onSend` hooks have run.
 */
export function watchReply (reply: FastifyReply): () => boolean {
  // It may have expired in a hook of the host. The error is being sent.
  let hasResponded = isOverdue(reply.request)
  const send = reply.send.bind(reply)
  const then = reply.then.bind(reply)
  reply.send = (payload) => {
    send(payload)
    hasResponded = true
    return reply
  }
  // Awaited when `currentUser` returns it. The browser may leave before it is sent.
  reply.then = (fulfilled, rejected) => {
    hasResponded = true
    then(fulfilled, rejected)
  }
  return () => hasResponded || reply.sent
}

/** Whether `handlerTimeout` expired: Fastify has responded. Where there is none, `signal` is dear: reading makes it. */
export function isOverdue (request: FastifyRequest): boolean {
  return Boolean(request.routeOptions.handlerTimeout) && request.signal.reason?.code === 'FST_ERR_HANDLER_TIMEOUT'
}
