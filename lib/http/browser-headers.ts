import type { FastifyReply } from 'fastify'
import { protect, SIGNATURE } from './replies.ts'

const POLICY = "frame-ancestors 'none'"

/** What the host cannot change of a response. */
interface Claim {
  status?: number
  headers?: Record<string, string>
}

/** A decorator of replies, which costs less than a WeakMap of them. */
export const CLAIM = Symbol('partner-sso: claim')

type Claimed = FastifyReply & { [CLAIM]?: Claim | null }

/** A response of the plugin: its policy replaces that of the host. */
export const OWN: Claim = { headers: { 'content-security-policy': POLICY } }

/** With `same-origin`, the default of @fastify/helmet, a portal that signs in by a popup would lose the popup. */
export const OWN_REDIRECT: Claim = { headers: { ...OWN.headers, 'cross-origin-opener-policy': 'unsafe-none' } }

/** Keeps the host from changing these of the response that follows. */
export function claim (reply: Claimed, what: Claim): void {
  reply[CLAIM] = what
}

/** Removes the plugin's signature, redirect and policy from a response that the host sends instead. */
export function yieldToHost (reply: Claimed): void {
  reply.removeHeader(SIGNATURE)
  if (reply[CLAIM]) reply.removeHeader('location')
  reply[CLAIM] = null
}

/** The headers of every response of the authorization endpoint. */
export function protectInBrowser (reply: Claimed): void {
  protect(reply)
  const { status, headers } = reply[CLAIM] ?? {}
  if (status !== undefined) reply.code(status)
  reply.headers({
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'content-security-policy': besideOurs(reply.getHeader('content-security-policy')),
    ...headers
  })
}

/** The host's policy and ours: a browser applies both (Content Security Policy Level 3, section 8.1). */
function besideOurs (given: unknown): string {
  const policies = [given ?? []].flat().join(', ')
  if (policies === '') return POLICY
  return policies.endsWith(POLICY) ? policies : `${policies}, ${POLICY}`
}
