import type { Arrival } from '../flow/browser.ts'
import { redirectTarget } from '../flow/browser.ts'
import { logIn } from '../flow/user.ts'
import { header } from '../flow/wire.ts'
import { expect, Untested } from './rule.ts'
import type { Subject } from './subject.ts'

const FOREIGN = 'attacker.example'

/** The address of the login page with another address to return to. */
function withReturn (page: string, value: string): string {
  const url = new URL(page)
  const parameter = [...url.searchParams].find(([, to]) => to.includes('/oauth/authorize'))
  url.searchParams.set(parameter?.[0] ?? 'return_to', value)
  return url.href
}

/** Opens the login page with a foreign address: as a user who is logged in, and then by a login. */
export async function noOpenRedirect (subject: Subject, page: Arrival): Promise<void> {
  const { user, browser } = await subject.session()
  const { origin } = subject.integration.base
  // One begins as the app's own, one passes where only `//` is refused.
  for (const foreign of [`${origin.replace(/:\d+$/, '')}.${FOREIGN}/`, `/\\${FOREIGN}/`]) {
    const url = withReturn(page.url, foreign)
    const fresh = subject.browserOf(user)
    const shown = await fresh.open(url)
    const steps = user.login === undefined ? [] : await logIn(fresh, shown, user.login)
    const targets = [await browser.open(url), shown, ...steps]
      .flatMap(({ hops }) => hops)
      .map((hop) => redirectTarget(hop, hop.request.url) ?? hop.request.url)
    const isForeign = targets.some((target) => new URL(target).hostname.endsWith(FOREIGN))
    expect(!isForeign, `with ${foreign} as the address to return to the login leads there`)
  }
  if (user.login === undefined) throw new Untested('it needs a login by a form')
}

const PROBE = 'check-probe'
/** The probe as an element, or behind the end of an attribute. */
const PRINTED = /<check-probe|=\s*"[^"<>]*check-probe"check-probe|=\s*'[^'<>]*check-probe(?:"|&quot;|&#34;)check-probe'/

/** Opens the login page with an address that would end an attribute, or begin an element. */
export async function noInjection (subject: Subject, page: Arrival): Promise<void> {
  const { browser } = await subject.nobody()
  const { pathname } = new URL(subject.integration.authorizeUrl)
  const { exchange } = await browser.open(withReturn(page.url, `${pathname}?${PROBE}"${PROBE}'<${PROBE}>`))
  const printed = PRINTED.exec(String(exchange.response?.body))
  const isPage = /html/.test(header(exchange.response, 'content-type'))
  expect(!isPage || printed === null, `the page prints ${printed?.[0].slice(-30)} of its address as it is`)
}
