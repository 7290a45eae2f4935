import type { FastifyReply } from 'fastify'
import { protect } from './replies.ts'

const POLICY = "frame-ancestors 'none'"

/** The policies of responses that the plugin sends itself. Any other response keeps the host's, with ours added. */
const policies = new WeakMap<FastifyReply, string>()

/** Marks the response that follows as one of the plugin: its policy replaces what the host has set. */
export function setPolicy (reply: FastifyReply, policy = POLICY): void {
  policies.set(reply, policy)
}

/** The host responds in place of the plugin: the plugin's redirect and policy must not be part of that response. */
export function yieldToHost (reply: FastifyReply): void {
  if (policies.delete(reply)) reply.removeHeader('location')
}

/** The headers of every response of the authorization endpoint. */
export function protectInBrowser (reply: FastifyReply, policy = policies.get(reply)): void {
  protect(reply)
  reply.headers({
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'content-security-policy': policy ?? besideOurs(reply.getHeader('content-security-policy'))
  })
}

/** The host's policy and ours: a browser applies both (Content Security Policy Level 3, section 8.1). */
function besideOurs (given: unknown): string {
  const policies = [given ?? []].flat().join(', ')
  if (policies === '') return POLICY
  return policies.endsWith(POLICY) ? policies : `${policies}, ${POLICY}`
}
