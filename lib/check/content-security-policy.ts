import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { expect } from './rule.ts'

/** The form-action of each policy lets the forms of a page lead to the target. Commas separate policies. */
export function expectFormAction (page: Exchange, target: string) {
  const url = new URL(target)
  const policies = header(page.response, 'content-security-policy').toLowerCase()
  for (const directive of policies.match(/form-action[^;,]*/g) ?? []) {
    expect(directive.split(/\s+/).some((source) => allows(source, url)), directive)
  }
}

/** CSP Level 3 §6.7.2. The path of a source does not count: the portal is reached by a redirect. */
function allows (source: string, { protocol, host, hostname }: URL) {
  const place = source
    .replace(`${protocol}//`, '')
    .replace(/(?::443)?(?:\/.*)?$/, '')
  const isParent = place.startsWith('*.') && host.endsWith(place.slice(1))
  return isParent || ['*', protocol, host, `${hostname}:*`].includes(place)
}
