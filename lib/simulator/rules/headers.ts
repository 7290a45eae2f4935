import type { WireResponse } from '../../testing/wire.ts'
import { header } from '../../testing/wire.ts'
import { expect } from './rule.ts'

const listOf = (value: string): string[] =>
  value.toLowerCase().split(',').map((item) => item.trim()).filter((item) => item !== '')

const shown = (name: string, value: string): string => value === '' ? `no ${name}` : `${name}: ${value}`

/** RFC 9111 §5.2.2.5. `no-cache` is not enough: it lets the response be stored. */
export function expectNoStore (response: WireResponse | undefined): void {
  const value = header(response, 'cache-control')
  expect(listOf(value).includes('no-store'), shown('Cache-Control', value))
}

/** Those that send no path and no parameter to another origin. */
const REFERRER_POLICIES = [
  'no-referrer', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin', 'strict-origin-when-cross-origin'
]

/** Referrer Policy §8.1: of several the last one that the browser knows counts. */
export function expectNoReferrer (response: WireResponse | undefined): void {
  const value = header(response, 'referrer-policy')
  const policy = listOf(value).filter((item) => [...REFERRER_POLICIES, ...LAX].includes(item)).at(-1) ?? ''
  expect(REFERRER_POLICIES.includes(policy), shown('Referrer-Policy', value))
}

const LAX = ['no-referrer-when-downgrade', 'unsafe-url']

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed (response: WireResponse | undefined): void {
  const directives = header(response, 'content-security-policy').split(',')
    .map((policy) => policy.split(';').map((directive) => directive.trim().toLowerCase().split(/\s+/))
      .find(([name]) => name === 'frame-ancestors'))
    .filter((directive) => directive !== undefined)
  const options = listOf(header(response, 'x-frame-options'))
  if (directives.length > 0) {
    const isOwn = (source: string) => ['\'none\'', '\'self\''].includes(source)
    const closed = directives.some(([, ...sources]) => sources.every(isOwn))
    return expect(closed, directives.map((directive) => directive.join(' ')).join(', '))
  }
  expect(options.length > 0 && options.every((option) => ['deny', 'sameorigin'].includes(option)),
    options.length === 0 ? 'neither frame-ancestors nor X-Frame-Options' : `X-Frame-Options: ${options.join(', ')}`)
}

/** Whether a response asks for credentials of a scheme (RFC 9110 §11.6.1). */
export function challenges (response: WireResponse | undefined, scheme: string): boolean {
  return new RegExp(`(?:^|,)\\s*${scheme}(?:\\s|,|$)`, 'i').test(header(response, 'www-authenticate'))
}
