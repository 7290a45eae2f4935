import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'

/**
 * The form-action that keeps the forms of a page from leading to the target; null where each policy
 * of the page lets them. Commas separate policies.
 */
export function formActionAgainst (page: Exchange, target: string): string | null {
  const url = new URL(target)
  const policies = header(page.response, 'content-security-policy').toLowerCase()
  const directives = policies.match(/form-action[^;,]*/g) ?? []
  return directives.find((directive) => !directive.split(/\s+/).some((source) => allows(source, url))) ?? null
}

/**
 * Content Security Policy Level 3 section 6.7.2. The path of a source does not count: the portal is reached by a
 * redirect.
 */
function allows (source: string, { protocol, host, hostname }: URL) {
  const place = source
    .replace(`${protocol}//`, '')
    .replace(/(?::443)?(?:\/.*)?$/, '')
  const isParent = place.startsWith('*.') && host.endsWith(place.slice(1))
  return isParent || ['*', protocol, host, `${hostname}:*`].includes(place)
}
