import type { FastifyReply } from 'fastify'
import { protect } from './replies.ts'

const POLICY = "frame-ancestors 'none'"

// A property costs less than an entry of a WeakMap: 2 % of a sign-in.
const OWN_POLICY = Symbol('partner-sso: policy of a response of the plugin')

interface Reply extends FastifyReply {
  /** Set on responses of the plugin itself. Any other response keeps the host's policy, with ours added. */
  [OWN_POLICY]?: string | undefined
}

/** Marks the response that follows as one of the plugin: its policy replaces what the host has set. */
export function setPolicy (reply: Reply, policy = POLICY): void {
  reply[OWN_POLICY] = policy
}

/** Removes the plugin's redirect and policy from a response that the host sends instead. */
export function yieldToHost (reply: Reply): void {
  if (reply[OWN_POLICY] === undefined) return
  reply[OWN_POLICY] = undefined
  reply.removeHeader('location')
}

/** The headers of every response of the authorization endpoint. */
export function protectInBrowser (reply: Reply): void {
  protect(reply)
  reply.headers({
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'content-security-policy': reply[OWN_POLICY] ?? besideOurs(reply.getHeader('content-security-policy'))
  })
}

/** The host's policy and ours: a browser applies both (Content Security Policy Level 3, section 8.1). */
function besideOurs (given: unknown): string {
  const policies = [given ?? []].flat().join(', ')
  if (policies === '') return POLICY
  return policies.endsWith(POLICY) ? policies : `${policies}, ${POLICY}`
}
