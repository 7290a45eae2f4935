import type { Arrival } from '../flow/browser.ts'
import { targetOf } from '../flow/browser.ts'
import { logIn } from '../flow/user.ts'
import { header } from '../flow/wire.ts'
import { expect, Untested } from './rule.ts'
import type { Subject } from './subject.ts'

const FOREIGN = 'attacker.example'

/** Addresses of another site: one begins as the app's own, one passes where only `//` is refused. */
const foreignUrls = ({ hostname, protocol }: URL): string[] => [
  `${protocol}//${hostname.replace(/[^\w.-]/g, '')}.${FOREIGN}/`,
  `/\\${FOREIGN}/`
]

/** The parameter of the login page's address that names the address to return to. */
function parameterOf (page: string): string {
  const found = [...new URL(page).searchParams].find(([, value]) => value.includes('/oauth/authorize'))
  return found?.[0] ?? 'return_to'
}

function withReturn (page: string, value: string): string {
  const url = new URL(page)
  url.searchParams.set(parameterOf(page), value)
  return url.href
}

/** Opens the login page with a foreign address: as a user who is logged in, and then by a login. */
export async function noOpenRedirect (subject: Subject, page: Arrival): Promise<void> {
  const { user, browser } = await subject.session()
  for (const foreign of foreignUrls(subject.integration.base)) {
    const url = withReturn(page.url, foreign)
    expectHere(await browser.open(url), foreign)
    if (user.login === undefined) continue
    const fresh = subject.browserOf(user)
    const shown = await fresh.open(url)
    expectHere(shown, foreign)
    for (const arrival of await logIn(fresh, shown, user.login)) expectHere(arrival, foreign)
  }
  if (user.login === undefined) throw new Untested('it needs a login by a form')
}

function expectHere (arrival: Arrival, foreign: string): void {
  const targets = [
    ...arrival.hops.map(({ response }) => header(response, 'location')),
    targetOf(arrival) ?? ''
  ]
  const isForeign = targets.some(
    (target) => URL.canParse(target, arrival.url) && new URL(target, arrival.url).hostname.endsWith(FOREIGN)
  )
  expect(!isForeign, `with ${foreign} as the address to return to the login leads there`)
}

/** Text that shows whether it was printed as it is. */
const PROBE = 'check-probe'
const PRINTED = new RegExp(
  `<${PROBE}|=\\s*"[^"<>]*${PROBE}"${PROBE}|=\\s*'[^'<>]*${PROBE}(?:"|&quot;|&#34;)${PROBE}'`
)

/** Opens the login page with an address that would end an attribute, or begin an element. */
export async function noInjection (subject: Subject, page: Arrival): Promise<void> {
  const { browser } = await subject.nobody()
  const { pathname } = new URL(subject.integration.authorizeUrl)
  const address = withReturn(page.url, `${pathname}?${PROBE}"${PROBE}'<${PROBE}>`)
  const { response } = (await browser.open(address)).exchange
  const printed = PRINTED.exec(String(response?.body))?.[0].slice(-30)
  const isPage = /html/.test(header(response, 'content-type'))
  expect(!isPage || printed === undefined, `the page prints ${printed} of its address as it is`)
}
