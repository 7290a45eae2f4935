import type { Arrival } from '../../flow/browser.ts'
import { codeOf } from '../../flow/browser.ts'
import type { Cookie } from '../../flow/cookies.ts'
import { CookieJar } from '../../flow/cookies.ts'
import { describe } from '../../flow/failure.ts'
import { statusOf } from '../../flow/wire.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { Failed, Inconclusive, Untested } from './errors.ts'
import type { LoginPage } from './login-page.ts'
import { loginPageOf } from './login-page.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { namesOf, refusedAtOnce } from './without-user.ts'

/**
 * The page where a browser ends whose user is not logged in. It is asked for before the sign-in of
 * the user.
 */
export const LOGIN_PAGE_RULE: Rule = {
  id: 'login.page',
  section: 'login',
  severity: 'must',
  sentence: 'A browser whose user is not logged in ends on a page, not in a loop or an error.',
  fix: 'Open the authorization address in a private window and follow its redirects.',
  async test (service) {
    const arrival = await service.loggedOut()
    const got = describe(arrival.exchange)
    const status = statusOf(arrival.exchange)
    expect(
      arrival.at !== 'loop', 'redirects that do not end',
      'Exempt the login page from the login hook.'
    )
    if (arrival.at === 'callback') {
      throw new Untested('the service has no login page (option loginPage)')
    }
    expect(!refusedAtOnce(service, arrival), got, LOCKED_OUT, 'should')
    if (arrival.at !== 'page' || (status < 500 && status !== 404)) return
    const fix = status === 404 ? await strippedFix(service, arrival.url) ?? CREATE : undefined
    throw new Failed(`${got} at ${new URL(arrival.url).pathname}`, fix)
  }
}

const CREATE = 'Create the login page, or correct the option loginPage.'
const LOCKED_OUT = 'A user who is not logged in has no way to log in here: ' +
  'let the endpoint redirect to the login page, and exempt it from hooks that respond before it ' +
  'does.'

/**
 * A proxy that strips the path of the base URL hides it from the application: its own redirects
 * lead beside it. What to do, where the address responds with that path in front.
 */
async function strippedFix (
  { integration: { base, send } }: Service, url: string
): Promise<string | undefined> {
  const path = base.pathname.replace(/\/$/, '')
  const { pathname, search } = new URL(url)
  if (path === '' || pathname.startsWith(`${path}/`)) return undefined
  const exchange =
    await send({ method: 'GET', url: new URL(path + pathname + search, base).href, headers: [] })
  if (statusOf(exchange) >= 400) return undefined
  return `It responds at ${path}${pathname}: a proxy strips ${path}, and the application does ` +
    'not know of it. ' +
    'Give loginPage as a function that puts the path in front of the login page and of the ' +
    'address to return to: ' +
    `(returnTo) => '${path}/login?return_to=' + encodeURIComponent('${path}' + returnTo).`
}

/** The way through the partner's own login, where sign-ins most often fail. */
export const LOGIN_RULES: readonly Rule[] = [
  {
    id: 'login.cookie',
    section: 'SameSite',
    severity: 'must',
    sentence: 'The session cookie is sent when the browser comes from the portal.',
    fix:
      'Set the session cookie with SameSite=Lax: ' +
      'browsers do not send a Strict one when another site, the portal, redirects to the ' +
      'application.',
    test: (service) => service.hasUser ? cookieTravels(service) : setsTravellingCookies(service)
  },
  {
    id: 'login.form-action',
    section: 'CSP Level 3 §6.4.1',
    severity: 'must',
    sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
    fix:
      'Add the portal’s origin to form-action on the login page: ' +
      'browsers apply it to the redirects that follow the form.',
    after: ['login.page'],
    async test (service) {
      const { url, response, actions, severity } = await loginPage(service)
      const { redirectUri } = service.integration
      if (actions.length === 0) throw new Untested('the login page has no form')
      const blocking = formActionBlocking(policiesOf(response), url, redirectUri)
      const fix = `Add ${new URL(redirectUri).origin} to form-action on the login page: ` +
        'browsers apply it to the redirects that follow the form.'
      // Certain only where the login is known to redirect: form-action does not touch a page that
      // follows the form and leads on by itself, nor a form that a script sends.
      expect(
        blocking === undefined, String(blocking), fix,
        service.settings.loginRedirects ? severity : 'should'
      )
    }
  },
  {
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
]

async function returns (service: Service): Promise<void> {
  const page = await loginPage(service)
  if (page.url.split('?')[0] === service.integration.authorizeUrl) {
    throw new Untested('the login page is at the address of the request')
  }
  const back = returnAddress(page.url)
  if (back === undefined) return forgets(service, page)
  if (service.hasUser) await returnsToPortal(service, back)
  return keepsReturn(service, page)
}

/** A login that no request can try is not passed: a browser can try it. */
function adviseBrowser (error: unknown): never {
  if (!(error instanceof Untested) || error instanceof Inconclusive) throw error
  throw new Untested(`${error.message}: sign in once in a browser, by partner-sso-portal serve`)
}

const isStrict = ({ sameSite }: Cookie): boolean => sameSite === 'strict'

/** Does as a browser that is sent by another site: it leaves out the Strict cookies. */
async function cookieTravels (service: Service): Promise<void> {
  const cookies = service.browser.jar.all()
  const strict = cookies.filter(isStrict)
  const unknown = cookies.filter(({ sameSite }) => sameSite === undefined)
  if (strict.length === 0) {
    if (unknown.length === 0) return pathReaches(service)
    throw new Untested(
      `SameSite of ${namesOf(unknown)} is not known: give the whole Set-Cookie line`
    )
  }
  const arrival = await without(service, strict)
  // A page with a script may reload itself; then the browser does send the cookie.
  const got = `SameSite=Strict on ${namesOf(strict)}; without it ${describe(arrival.exchange)}`
  expect(codeOf(arrival) !== null, got, undefined, loginPageOf(arrival)?.severity)
}

function without (service: Service, left: Cookie[]): Promise<Arrival> {
  const cookies = service.browser.jar.all().filter((cookie) => !left.includes(cookie))
  return service.authorize({}, service.browserOf({ ...service.settings.user, cookies }))
}

/**
 * A cookie without Path is sent below the address that set it (RFC 6265 §5.1.4). Only a form of the
 * login page says which address that is.
 */
async function pathReaches (service: Service): Promise<void> {
  const pathless = service.browser.jar.all().filter(({ path }) => path === '')
  if (pathless.length === 0 || await setInReach(service)) return
  const arrival = await without(service, pathless)
  const got = `no Path on ${namesOf(pathless)}: a browser sends it only below the address of the ` +
    `login; without it ${describe(arrival.exchange)}`
  expect(codeOf(arrival) !== null, got, 'Set the session cookie with Path=/.', 'should')
}

async function setInReach (service: Service): Promise<boolean> {
  const page = loginPageOf(await service.loggedOut())
  const jar = new CookieJar()
  for (const action of page?.actions ?? []) {
    if (URL.canParse(action, page?.url)) jar.take('session=1', new URL(action, page?.url))
  }
  return jar.header(new URL(service.integration.authorizeUrl)) !== ''
}

/** Without a user nobody knows which of the cookies is the session. */
async function setsTravellingCookies (service: Service): Promise<void> {
  await service.loggedOut()
  const { pathname } = new URL(service.integration.authorizeUrl)
  const kept = service.anonymous.jar.all()
    .find((cookie) => isStrict(cookie) || !pathname.startsWith(String(cookie.path)))
  if (kept === undefined) throw new Untested('the service sets no session cookie before the login')
  const reason = isStrict(kept) ? 'SameSite=Strict' : `Path=${kept.path}`
  throw new Failed(`the service sets the cookie ${kept.name} with ${reason}; is it the session?`,
    'Set the session cookie with SameSite=Lax and Path=/.', 'should')
}

/** @throws Untested when the service shows no page of its own */
async function loginPage (service: Service): Promise<LoginPage> {
  const arrival = await service.loggedOut()
  const page = loginPageOf(arrival)
  if (page === null) {
    throw new Untested(`the service shows no login page of its own: ${describe(arrival.exchange)}`)
  }
  return page
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
 * The address of the page has the address to return to. Where its source is the same for two
 * requests and every form has an address of its own, nothing but a cookie or a script could carry
 * it on.
 *
 * @throws Untested where a cookie or a script may do so: only the login itself shows that
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
