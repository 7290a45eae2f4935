import { header, type WireResponse } from '../../../testing/wire.ts'

/** All policies of a page: those of the header, where commas part them, and those of meta elements. */
export function policiesOf (response: WireResponse): string[] {
  const metas = [...response.body.matchAll(/<meta\b[^>]*content-security-policy[^>]*>/gi)]
    .map(([tag]) => tag.replace(/^.*content\s*=\s*(["'])(.*?)\1.*$/is, '$2'))
  return [...header(response, 'content-security-policy').split(','), ...metas].map((policy) => policy.trim()).filter((policy) => policy !== '')
}

/** The policy whose form-action forbids to come to the target after a form was sent from the page; null when none does. */
export function formActionBlocking (policies: string[], page: string, target: string): string | null {
  const directives = policies.flatMap((policy) => policy.split(';')).map((directive) => directive.trim())
  const blocking = directives.filter((directive) => /^form-action(?:\s|$)/i.test(directive))
  return blocking.find((directive) => !directive.split(/\s+/).slice(1).some((source) => allows(source, new URL(page), new URL(target)))) ?? null
}

/** CSP Level 3 §6.7.2, without the path: the way back to the portal is a redirect, and there the path does not count. */
function allows (source: string, page: URL, target: URL): boolean {
  if (source === '*') return true
  if (source === '\'self\'') return page.origin === target.origin
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return source.toLowerCase() === target.protocol
  const { scheme, host = '', port } = /^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<host>[^/:']+)(?::(?<port>\d+|\*))?(?:\/.*)?$/i.exec(source)?.groups ?? {}
  return schemeFits(scheme, page, target) && hostFits(host.toLowerCase(), target.hostname) && portFits(port, target)
}

function schemeFits (scheme: string | undefined, page: URL, { protocol }: URL): boolean {
  const wanted = scheme === undefined ? page.protocol : `${scheme.toLowerCase()}:`
  return wanted === protocol || (wanted === 'http:' && protocol === 'https:')
}

function hostFits (host: string, actual: string): boolean {
  return host.startsWith('*.') ? actual.endsWith(host.slice(1)) : host === actual
}

function portFits (port: string | undefined, { port: actual }: URL): boolean {
  return port === '*' || (port ?? '') === actual || (actual === '' && (port === '443' || port === '80'))
}
