import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { expect } from './rule.ts'

const policiesOf = ({ response }: Exchange): string =>
  header(response, 'content-security-policy').toLowerCase()

/** The form-action of each policy lets the forms of a page lead to the target. Commas separate policies. */
export function expectFormAction (page: Exchange, target: string) {
  const url = new URL(target)
  for (const directive of policiesOf(page).match(/form-action[^;,]*/g) ?? []) {
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

/** What keeps a page out of the frames of other sites. */
const CLOSED = /^(?:frame-ancestors(?:\s+'(?:none|self)')*\s*$|deny|sameorigin)/i

/** CSP Level 3 §6.4.2.1: where a policy has frame-ancestors, browsers ignore X-Frame-Options. */
export function expectUnframed (page: Exchange) {
  const [sent = header(page.response, 'x-frame-options')] =
    /frame-ancestors[^;,]*/.exec(policiesOf(page)) ?? []
  expect(CLOSED.test(sent), `frame-ancestors, X-Frame-Options: ${sent || 'not sent'}`)
}
