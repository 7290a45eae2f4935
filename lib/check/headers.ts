import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { directivesOf } from './content-security-policy.ts'
import { expect } from './rule.ts'

/** What keeps a page out of the frames of other sites. */
const CLOSED = /^\s*(?:frame-ancestors(?:\s+'(?:none|self)')*|deny|sameorigin)\s*$/i

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed ({ response }: Pick<Exchange, 'response'>): void {
  const ancestors = directivesOf(header(response, 'content-security-policy').split(','), 'frame-ancestors')
  const sent = ancestors.length > 0 ? ancestors : header(response, 'x-frame-options').split(',')
  expect(sent.some((one) => CLOSED.test(one)), `frame-ancestors, X-Frame-Options: ${sent.join(', ') || 'none'}`)
}
