import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { directivesOf } from './content-security-policy.ts'
import { expect } from './rule.ts'

export const listOf = (value: string): string[] =>
  value
    .toLowerCase()
    .split(',')
    .map((item) => item.trim())

/** What keeps a page out of the frames of other sites. */
const CLOSED = /^(?:frame-ancestors(?:\s+'(?:none|self)')*|deny|sameorigin)$/i

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed ({ response }: Pick<Exchange, 'response'>): void {
  const policies = header(response, 'content-security-policy').split(',')
  const ancestors = directivesOf(policies, 'frame-ancestors')
  const options = listOf(header(response, 'x-frame-options'))
  const sent = ancestors.length > 0 ? ancestors : options
  expect(
    sent.some((one) => CLOSED.test(one)),
    sent.join(', ') || 'neither frame-ancestors nor X-Frame-Options'
  )
}
