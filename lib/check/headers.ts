import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { directivesOf } from './content-security-policy.ts'
import { expect } from './rule.ts'

export const listOf = (value: string): string[] =>
  value
    .toLowerCase()
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed ({ response }: Pick<Exchange, 'response'>): void {
  const policies = header(response, 'content-security-policy').toLowerCase().split(',')
  const ancestors = directivesOf(policies, 'frame-ancestors')
  if (ancestors.length > 0) {
    const isOwn = (source: string) => ["'none'", "'self'"].includes(source)
    const isClosed = ancestors.some(([, ...sources]) => sources.every(isOwn))
    return expect(isClosed, ancestors.map((directive) => directive.join(' ')).join(', '))
  }
  const options = listOf(header(response, 'x-frame-options'))
  expect(options.length > 0, 'neither frame-ancestors nor X-Frame-Options')
  const isClosed = options.every((option) => ['deny', 'sameorigin'].includes(option))
  expect(isClosed, `X-Frame-Options: ${options.join(', ')}`)
}
