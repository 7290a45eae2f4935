import type { WireResponse } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'

/**
 * All policies of a page: those of the header, separated by commas, and those of meta elements. The
 * expressions match no `<` inside an element, so that the time is linear in the size of the page.
 */
export function policiesOf (response: WireResponse): string[] {
  const metas = [...response.body.matchAll(/<meta\b[^<>]*>/gi)]
    .map(([tag]) => tag)
    .filter((tag) => /http-equiv\s*=\s*["']?content-security-policy["'\s/>]/i.test(tag))
    .map((tag) => /\scontent\s*=\s*(["'])(.*?)\1/is.exec(tag)?.[2] ?? '')
  return [...header(response, 'content-security-policy').split(','), ...metas]
}

/**
 * A directive of each policy, as one text. CSP Level 3 §2.2.1: of several with one name the first
 * one counts.
 */
export const directivesOf = (policies: string[], name: string): string[] =>
  policies
    .map((policy) => policy.split(';').map((directive) => directive.trim()))
    .flatMap((directives) => directives.find((one) => one.toLowerCase().split(/\s/)[0] === name) ?? [])

/** The form-action that keeps forms of the page from the target; undefined where none does. */
export function formActionBlocking (policies: string[], page: string, target: string): string | undefined {
  const allowing = sourcesFor(new URL(page), new URL(target))
  return directivesOf(policies, 'form-action').find((directive) => {
    const [, ...sources] = directive.toLowerCase().split(/\s+/)
    return !sources.some((source) => allowing.has(withoutPath(source)))
  })
}

/** The path of a source does not count: the portal is reached by a redirect (CSP Level 3 §6.7.2.8). */
const withoutPath = (source: string): string => source.replace(/(?<=[^:/])\/.*/, '')

/** All sources that a target matches (CSP Level 3 §6.7.2). */
function sourcesFor (page: URL, { origin, protocol, hostname, port }: URL): Set<string> {
  const schemes = protocol === 'https:' ? ['https:', 'http:'] : [protocol]
  const prefixes = schemes.map((scheme) => `${scheme}//`)
  if (schemes.includes(page.protocol)) prefixes.push('')
  const parents = [...hostname.matchAll(/\./g)].map(({ index }) => `*${hostname.slice(index)}`)
  const ports = port === '' ? ['', ':443', ':80', ':*'] : [`:${port}`, ':*']
  const hosts = prefixes.flatMap((prefix) =>
    [hostname, ...parents].flatMap((host) => ports.map((end) => prefix + host + end))
  )
  return new Set(['*', ...schemes, ...hosts, ...(page.origin === origin ? ["'self'"] : [])])
}
