import { codeOf } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import { Failed, Inconclusive, Untested } from './errors.ts'
import type { LoginPage } from './login-page.ts'
import { loginPageIn, loginPageOf, strippedFix } from './login-page.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { namesOf } from './without-user.ts'

/** The way back from the login, where sign-ins most often fail. */
export const LOGIN_RETURN_RULE: Rule = {
  id: 'login.return',
  section: 'login',
  severity: 'must',
  sentence:
    'After the login the browser returns to the authorization request, and so to the portal.',
  fix:
    'Return to the whole address of the authorization request: its path under the proxy and ' +
    'its query.',
  after: ['login.page'],
  test: (service) => returns(service).catch(adviseBrowser)
}

async function returns (service: Service): Promise<void> {
  const page = await loginPageIn(service)
  if (page.url.split('?')[0] === service.integration.authorizeUrl) {
    throw new Untested('the login page is at the address of the request')
  }
  const back = returnAddress(page.url)
  if (back === undefined) return forgets(service, page)
  if (service.hasUser) await returnsToPortal(service, back)
  return keepsReturn(service, page)
}

/** Where no request can test the login, the reason advises to try it in a browser. */
function adviseBrowser (error: unknown): never {
  if (!(error instanceof Untested) || error instanceof Inconclusive) throw error
  throw new Untested(`${error.message}: sign in once in a browser, by partner-sso-portal serve`)
}

/** The parameter of the login page's address that names the authorization endpoint. */
function returnAddress (page: string): URL | undefined {
  return [...new URL(page).searchParams.values()]
    .filter((value) => URL.canParse(value, page))
    .map((value) => new URL(value, page))
    .find(({ pathname }) => pathname.endsWith('/oauth/authorize'))
}

/**
 * Opens the return address as the user who has logged in, with the cookies from before the login.
 */
async function returnsToPortal (
  service: Service, { href, origin, pathname, search, searchParams }: URL
): Promise<void> {
  if (service.browser.leaves(href)) {
    throw new Untested(`the login page returns to ${origin}, not to the base URL`)
  }
  await service.code()
  const names = service.browser.jar.all().map(({ name }) => name)
  const earlier = service.anonymous.jar.all()
  service.browser.jar.add(earlier.filter(({ name }) => !names.includes(name)))
  const returned = await service.browser.open(href)
  if (codeOf(returned) !== null) return
  const got =
    `${pathname}${search === '' ? ' without its query' : ''}: ${describe(returned.exchange)}`
  // An address without all parameters may be completed from a session, which the login renews.
  const isInSession = earlier.some(({ name }) => names.includes(name)) &&
    !searchParams.has('redirect_uri')
  const severity = search === '' || isInSession ? 'should' : 'must'
  throw new Failed(got, await strippedFix(service, href), severity)
}

/**
 * The login page is the same for two requests with different states, and no cookie distinguishes
 * them: after the login nothing leads back to the request.
 */
async function forgets (service: Service, page: LoginPage): Promise<void> {
  const browser = service.browserOf()
  const other = await service.authorize({}, browser)
  const isStateless = [service.anonymous, browser].every(({ jar }) => jar.all().length === 0)
  if (other.url !== page.url || !isStateless) {
    throw new Untested('the login page names no return address')
  }
  throw new Failed(`the login page ${new URL(page.url).pathname}, without the address to return to`,
    'Give the login page the address to return to (the plugin adds return_to to a loginPage that ' +
    'is a string), ' +
      'and redirect there after the login.', page.severity)
}

/**
 * The URL of the login page has the address to return to. Where two requests get the same page and
 * every form has an action, only a cookie or a script could keep that address.
 *
 * @throws Untested where a cookie or a script may keep it: only the login itself shows that
 */
async function keepsReturn (service: Service, page: LoginPage): Promise<void> {
  const { response, actions, severity } = page
  if (actions.length === 0) throw new Untested('the login page has no form')
  const other = loginPageOf(await service.authorize({}, service.browserOf()))
  const isConstant = other?.response.body === response.body
  const isDropped = isConstant && !actions.includes('')
  const cookies = service.anonymous.jar.all()
  if (isDropped && cookies.length > 0) {
    const names = namesOf(cookies)
    throw new Untested(
      `its form drops the address to return to, which the cookie ${names} may keep`
    )
  }
  expect(!isDropped, `a form with action="${actions[0]}", without the address to return to`,
    'Keep return_to when the form is sent: in its action, or in a hidden field.', severity)
  if (severity === 'should') throw new Untested('a script of the login page may send its form')
}
