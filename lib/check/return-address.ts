import type { Arrival, Browser } from '../flow/browser.ts'
import { targetOf } from '../flow/browser.ts'
import { logIn } from '../flow/user.ts'
import { header } from '../flow/wire.ts'
import { Failed, Untested } from './rule.ts'
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
  const user = subject.options.users[0]
  if (user === undefined) throw new Untested('it needs a user')
  const { browser } = await subject.session()
  for (const foreign of foreignUrls(subject.integration.base)) {
    const url = withReturn(page.url, foreign)
    expectHere(await browser.open(url), foreign)
    if (user.login === undefined) continue
    const fresh = subject.browserOf(user)
    for (const arrival of await logInAt(fresh, url, user.login)) expectHere(arrival, foreign)
  }
  if (user.login === undefined) throw new Untested('it needs a login by a form')
}

async function logInAt (
  browser: Browser,
  url: string,
  login: Parameters<typeof logIn>[2]
): Promise<Arrival[]> {
  const page = await browser.open(url)
  return page.at === 'page' ? [page, ...(await logIn(browser, page, login))] : [page]
}

function expectHere (arrival: Arrival, foreign: string): void {
  const targets = [
    ...arrival.hops.map(({ response }) => header(response, 'location')),
    targetOf(arrival) ?? ''
  ]
  const isForeign = targets.some(
    (target) => URL.canParse(target, arrival.url) && new URL(target, arrival.url).hostname.endsWith(FOREIGN)
  )
  if (!isForeign) return
  throw new Failed(
    `with ${parameterOf(arrival.hops[0]?.request.url ?? arrival.url)}=${foreign} the login leads there`
  )
}

/** Text that shows whether it was printed as it is. */
const PROBE = 'check-probe'

/** Opens the login page with an address that would end an attribute, or begin an element. */
export async function noInjection (subject: Subject, page: Arrival): Promise<void> {
  const { browser } = await subject.nobody()
  const address = new URL(page.url).searchParams.get(parameterOf(page.url)) ?? '/oauth/authorize'
  const { response } = (await browser.open(withReturn(page.url, `${address}&${PROBE}"${PROBE}'<${PROBE}>`)))
    .exchange
  const body = response?.body ?? ''
  if (!/html/.test(header(response, 'content-type'))) return
  const printed =
    [`<${PROBE}`].find((text) => body.includes(text)) ??
    new RegExp(`=\\s*"[^"<>]*${PROBE}"${PROBE}|=\\s*'[^'<>]*${PROBE}(?:"|&quot;|&#34;)${PROBE}'`)
      .exec(body)?.[0]
      .slice(-30)
  if (printed !== undefined) throw new Failed(`the page prints ${printed} of its address as it is`)
}
