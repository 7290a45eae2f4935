import type { FastifyReply } from 'fastify'

/**
 * Returns a function that tells whether a response has been sent since: by `currentUser`, or by Fastify when
 * `handlerTimeout` expired. `reply.sent` alone is false until the host's `onSend` hooks have run.
 */
export function watchReply (reply: FastifyReply): () => boolean {
  let hasResponded = false
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
