import { describe } from '../../flow/failure.ts'
import type { Exchange } from '../../flow/wire.ts'
import { header, statusOf } from '../../flow/wire.ts'
import { directivesOf } from './content-security-policy.ts'
import { expect } from './rule.ts'

const listOf = (value: string): string[] =>
  value.toLowerCase().split(',').map((item) => item.trim()).filter((item) => item !== '')

const shown = (name: string, value: string): string =>
  value === '' ? `no ${name}` : `${name}: ${value}`

/** RFC 9111 §5.2.2.5. `no-cache` is not enough: it lets the response be stored. */
export function expectNoStore ({ response }: Exchange): void {
  const value = header(response, 'cache-control')
  expect(listOf(value).includes('no-store'), shown('Cache-Control', value))
}

/** Policies that send no path and no parameter to another origin. */
const REFERRER_POLICIES = [
  'no-referrer', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin',
  'strict-origin-when-cross-origin'
]
const LAX = ['no-referrer-when-downgrade', 'unsafe-url']

/** Referrer Policy §8.1: of several the last one that the browser knows counts. */
export function expectNoReferrer ({ response }: Exchange): void {
  const value = header(response, 'referrer-policy')
  const policy =
    listOf(value).filter((item) => [...REFERRER_POLICIES, ...LAX].includes(item)).at(-1) ?? ''
  expect(REFERRER_POLICIES.includes(policy), shown('Referrer-Policy', value))
}

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed ({ response }: Pick<Exchange, 'response'>): void {
  const policies = header(response, 'content-security-policy').toLowerCase().split(',')
  const ancestors = directivesOf(policies, 'frame-ancestors')
  if (ancestors.length > 0) {
    const isOwn = (source: string) => ['\'none\'', '\'self\''].includes(source)
    const isClosed = ancestors.some(([, ...sources]) => sources.every(isOwn))
    return expect(isClosed, ancestors.map((directive) => directive.join(' ')).join(', '))
  }
  const options = listOf(header(response, 'x-frame-options'))
  expect(options.length > 0, 'neither frame-ancestors nor X-Frame-Options')
  const isClosed = options.every((option) => ['deny', 'sameorigin'].includes(option))
  expect(isClosed, `X-Frame-Options: ${options.join(', ')}`)
}

/** Expects 401 with a challenge of the scheme (RFC 9110 §11.6.1). */
export function expectChallenge (exchange: Exchange, scheme: string): void {
  const challenge = header(exchange.response, 'www-authenticate')
  const asks = new RegExp(`(?:^|,)\\s*${scheme}(?:\\s|,|$)`, 'i').test(challenge)
  expect(asks, `${describe(exchange)}, no WWW-Authenticate: ${scheme}`)
  expect(statusOf(exchange) === 401, describe(exchange))
}
