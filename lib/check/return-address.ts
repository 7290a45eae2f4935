import type { Arrival } from '../flow/browser.ts'
import { logIn } from '../flow/user.ts'
import { expect, Failed, Untested } from './rule.ts'
import { isHtml, loginPage } from './session.ts'
import type { Subject } from './subject.ts'

const FOREIGN = 'attacker.example'

/** The address of the login page with another address to return to. */
function withReturn ({ url }: Arrival, value: string): string {
  const changed = url.replace(
    /(?<==)[^&]*oauth(?:\/|%2F)authorize[^&]*/i,
    encodeURIComponent(value)
  )
  if (changed === url) throw new Untested('it needs a login page that has the address to return to in its own')
  return changed
}

/** Opens the login page with a foreign address: before a login, by it, and as a user who is logged in. */
export async function noOpenRedirect (subject: Subject): Promise<void> {
  const page = await loginPage(subject)
  const { user } = await subject.session()
  if (user.login === undefined) throw new Untested('it needs a login by a form')
  const { origin, hostname } = subject.integration.base
  // One begins as the app's own, one passes where only `//` is refused.
  for (const foreign of [`${origin}@${hostname}.${FOREIGN}/`, `/\\${FOREIGN}/`]) {
    const url = withReturn(page, foreign)
    const browser = subject.browserOf(user)
    const shown = await browser.open(url)
    const arrivals = [
      shown,
      ...(await logIn(browser, shown, user.login).catch((error) => leadsAway(error, foreign))),
      await browser.open(url)
    ]
    const isForeign = arrivals.some(({ target }) => target?.hostname.endsWith(FOREIGN))
    expect(!isForeign, `with ${foreign} as the address to return to the login leads there`)
  }
}

/** A form that would be sent to another site, which it was not in the login before. */
function leadsAway (error: unknown, foreign: string): never {
  if (!(error instanceof TypeError)) throw error
  throw new Failed(`with ${foreign} as the address to return to: ${error.message}`)
}

/** The probe as an element, or behind the end of an attribute. */
const PRINTED = /<check-probe|=\s*"[^"<>]*check-probe"check-probe|=\s*'[^'<>]*check-probe(?:"|&quot;|&#34;)check-probe'/

/** Opens the login page with an address that would end an attribute, or begin an element. */
export async function noInjection (subject: Subject): Promise<void> {
  const { browser } = await subject.nobody()
  const url = withReturn(await loginPage(subject), '/oauth/authorize?check-probe"check-probe\'<check-probe>')
  const { exchange } = await browser.open(url)
  const isPrinted = isHtml(exchange) && PRINTED.test(String(exchange.response?.body))
  expect(!isPrinted, 'the page prints its address as it is')
}
