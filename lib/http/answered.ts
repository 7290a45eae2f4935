import { type FastifyReply } from 'fastify'

/**
 * Returns a function that tells whether an answer has been sent since: by `currentUser`, or by Fastify when
 * `handlerTimeout` was over. `reply.sent` alone is false until the host's `onSend` hooks have run.
 */
export function watchAnswer (reply: FastifyReply): () => boolean {
  let isAnswered = false
  const send = reply.send.bind(reply)
  reply.send = (payload) => {
    send(payload)
    isAnswered = true
    return reply
  }
  return () => isAnswered || reply.sent
}
