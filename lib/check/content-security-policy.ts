import type { WireResponse } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'

/**
 * All policies of a page: those of the header, separated by commas, and those of meta elements. The
 * expressions match no `<` inside an element, so that the time is linear in the size of the page.
 */
export function policiesOf (response: WireResponse): string[] {
  const metas = [...response.body.matchAll(/<meta\b([^<>]*)>/gi)]
    .map(([, attributes = '']) => attributes)
    .filter((attributes) => /http-equiv\s*=\s*["']?content-security-policy["'\s]/i.test(`${attributes} `))
    .map((attributes) => /\scontent\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(attributes))
    .map((content) => content?.[1] ?? content?.[2] ?? '')
  return [...header(response, 'content-security-policy').split(','), ...metas]
}

/**
 * A directive of each policy, split into words. CSP Level 3 §2.2.1: of several with one name the
 * first one counts.
 */
export function directivesOf (policies: string[], name: string): string[][] {
  return policies
    .map((policy) => policy.split(';').map((directive) => directive.trim().split(/\s+/)))
    .flatMap((directives) => directives.filter(([first]) => first?.toLowerCase() === name).slice(0, 1))
}

/** The form-action that keeps forms of the page from the target; undefined where none does. */
export function formActionBlocking (policies: string[], page: string, target: string): string | undefined {
  const [sandbox] = directivesOf(policies, 'sandbox').filter((words) => !words.includes('allow-forms'))
  if (sandbox !== undefined) return sandbox.join(' ')
  return directivesOf(policies, 'form-action')
    .find(([, ...sources]) => !sources.some((source) => allows(source, new URL(page), new URL(target))))
    ?.join(' ')
}

/**
 * CSP Level 3 §6.7.2. The path of a source does not count: the portal is reached by a redirect.
 */
function allows (source: string, page: URL, target: URL): boolean {
  if (source === '*') return true
  if (source === "'self'") return page.origin === target.origin
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return source.toLowerCase() === target.protocol
  const { scheme, host = '', port } = SOURCE.exec(source)?.groups ?? {}
  return (
    schemeFits(scheme, page, target) &&
    hostFits(host.toLowerCase(), target.hostname) &&
    portFits(port, target)
  )
}

const SOURCE = /^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<host>[^/:']+)(?::(?<port>\d+|\*))?(?:\/.*)?$/i

function schemeFits (scheme: string | undefined, page: URL, { protocol }: URL): boolean {
  const expected = scheme === undefined ? page.protocol : `${scheme.toLowerCase()}:`
  return expected === protocol || (expected === 'http:' && protocol === 'https:')
}

function hostFits (host: string, actual: string): boolean {
  return host.startsWith('*.') ? actual.endsWith(host.slice(1)) : host === actual
}

function portFits (port: string | undefined, { port: actual }: URL): boolean {
  return port === '*' || (port ?? '') === actual || (actual === '' && (port === '443' || port === '80'))
}
