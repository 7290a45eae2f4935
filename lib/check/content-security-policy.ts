import type { Exchange, WireResponse } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { expect } from './rule.ts'

/**
 * All policies of a page: those of the header, separated by commas, and those of meta elements. The
 * expressions match no `<` inside an element, so that the time is linear in the size of the page.
 */
export function policiesOf (response: WireResponse): string[] {
  const metas = response.body.match(/<meta\b[^<>]*>/gi) ?? []
  const contents = metas
    .filter((meta) => /http-equiv\s*=\s*["']?content-security-policy["'\s/>]/i.test(meta))
    .map((meta) => /\scontent\s*=\s*(["'])(.*?)\1/is.exec(meta)?.[2] ?? '')
  return [...header(response, 'content-security-policy').split(','), ...contents]
}

/**
 * A directive of each policy, as one text in lower case. CSP Level 3 §2.2.1: of several with one
 * name the first one counts.
 */
function directivesOf (policies: string[], name: string) {
  return policies.flatMap((policy) => {
    const directives = policy.trim().toLowerCase().split(/\s*;\s*/)
    return directives.find((directive) => directive.startsWith(name)) ?? []
  })
}

/** The form-action that keeps forms from the target; undefined where none does. */
export function formActionBlocking (policies: string[], target: string): string | undefined {
  const url = new URL(target)
  return directivesOf(policies, 'form-action').find((directive) =>
    !directive.split(/\s+/).some((source) => allows(source, url))
  )
}

/**
 * CSP Level 3 §6.7.2: `http:` allows https too. The path of a source does not count: the portal is
 * reached by a redirect.
 */
function allows (source: string, { protocol, hostname, host }: URL) {
  const place = source
    .replace('http://', '')
    .replace(`${protocol}//`, '')
    .replace(/(?<=[^:/])\/.*/, '')
    .replace(/:443$/, '')
  const hosts = [host, `${hostname}:*`]
  const isParent = place.startsWith('*.') && hosts.some((one) => one.endsWith(place.slice(1)))
  const allowing = ['*', 'http:', protocol, ...hosts]
  return isParent || allowing.includes(place)
}

/** What keeps a page out of the frames of other sites. */
const CLOSED = /^\s*(?:frame-ancestors(?:\s+'(?:none|self)')*|deny|sameorigin)\s*$/i

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed ({ response }: Exchange): void {
  const ancestors = directivesOf(header(response, 'content-security-policy').split(','), 'frame-ancestors')
  const sent = ancestors.length > 0 ? ancestors : header(response, 'x-frame-options').split(',')
  expect(sent.some((one) => CLOSED.test(one)), `frame-ancestors, X-Frame-Options: ${sent.join(', ') || 'none'}`)
}
