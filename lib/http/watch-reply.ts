import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Returns a function that returns true once a response has been sent: by `currentUser`, or by Fastify when
 * `handlerTimeout` expired. `reply.sent` alone is false until the host's `onSend` hooks have run.
 */
export function watchReply (reply: FastifyReply): () => boolean {
  // `handlerTimeout` may have expired in a hook of the host: Fastify is sending the error.
  let hasResponded = isOverdue(reply.request)
  const send = reply.send.bind(reply)
  const then = reply.then.bind(reply)
  reply.send = (payload) => {
    send(payload)
    hasResponded = true
    return reply
  }
  // Called when `currentUser` returns the reply. The browser may disconnect before the response is sent.
  reply.then = (fulfilled, rejected) => {
    hasResponded = true
    then(fulfilled, rejected)
  }
  return () => hasResponded || reply.sent
}

/**
 * Whether `handlerTimeout` expired: Fastify has responded. Without a `handlerTimeout`, `signal` is not read: its getter
 * creates it, which is expensive.
 */
export function isOverdue (request: FastifyRequest): boolean {
  return Boolean(request.routeOptions.handlerTimeout) && request.signal.reason?.code === 'FST_ERR_HANDLER_TIMEOUT'
}
