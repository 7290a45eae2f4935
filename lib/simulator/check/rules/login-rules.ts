import { type Cookie } from '../../../testing/cookies.ts'
import { describe } from '../../../testing/failure.ts'
import { statusOf } from '../../../testing/wire.ts'
import { refusedAtOnce } from './authorize-hook.ts'
import { type Bench } from './bench.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { type LoginPage, loginPageOf, setsCookie } from './login-page.ts'
import { fail, pass, type Rule, type Verdict } from './rule.ts'
import { Untested } from './untested.ts'

/** The page where a browser ends whose user is not logged in. It is asked for before the sign-in of the user. */
export const LOGIN_PAGE_RULE: Rule = {
  id: 'login.page',
  section: 'login',
  severity: 'must',
  sentence: 'A browser whose user is not logged in ends on a page, not in a loop or an error.',
  fix: 'Open the authorization address in a private window and follow its redirects.',
  test: async (bench) => {
    const arrival = await bench.loginPage()
    if (arrival.at === 'loop') return fail('redirects that do not end', 'Exempt the login page from the login hook.')
    if (arrival.at === 'callback') throw new Untested('the service has no login page (option loginPage)')
    if (refusedAtOnce(bench, arrival)) return fail(bench.told(arrival.exchange), LOCKED_OUT, 'should')
    const status = statusOf(arrival.exchange)
    if (arrival.at !== 'page' || (status < 500 && status !== 404)) return pass
    const got = bench.secrets.mask(`${describe(arrival.exchange)} at ${new URL(arrival.url).pathname}`)
    return fail(got, status === 404 ? 'Create the login page, or correct the option loginPage.' : undefined)
  }
}

const LOCKED_OUT = 'A user who is not logged in has no way to log in here: ' +
  'let the endpoint redirect to the login page, and exempt it from hooks that answer before it does.'

/** The way through the partner's own login, where sign-ins most often fail. */
export const LOGIN_RULES: Rule[] = [
  {
    id: 'login.cookie',
    section: 'SameSite',
    severity: 'must',
    sentence: 'The session cookie is sent when the browser comes from the portal.',
    fix: 'Set the session cookie with SameSite=Lax: ' +
      'browsers do not send a Strict one when another site, the portal, redirects to the application.',
    test: cookieTravels
  },
  {
    id: 'login.form-action',
    section: 'CSP Level 3 §6.4.1',
    severity: 'must',
    sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
    fix: 'Add the portal’s origin to form-action on the login page: ' +
      'browsers apply it to the redirects that follow the form.',
    after: ['login.page'],
    test: async (bench) => {
      const page = await loginPage(bench)
      if (page.forms.length === 0) throw new Untested('the login page has no form')
      const blocking = formActionBlocking(policiesOf(page.response), page.url, bench.portal.redirectUri)
      if (blocking === null) return pass
      // Certain only where the login is known to answer with a redirect: form-action does not touch a page that follows
      // the form and leads on by itself, nor a form that a script sends.
      const fix = `Add ${new URL(bench.portal.redirectUri).origin} to form-action on the login page: ` +
        'browsers apply it to the redirects that follow the form.'
      return fail(blocking, fix, bench.settings.loginRedirects && !page.scripted ? 'must' : 'should')
    }
  },
  {
    id: 'login.return',
    section: 'login',
    severity: 'must',
    sentence: 'After the login the browser returns to the authorization request, and so to the portal.',
    fix: 'Return to the whole address of the authorization request: its path under the proxy and its query.',
    after: ['login.page'],
    test: async (bench) => {
      const page = await loginPage(bench)
      if (atEndpoint(bench, page.url)) throw new Untested('the login page is at the address of the request')
      const back = returnAddress(page.url)
      return back === undefined ? forgets(bench, page) : returnsToPortal(bench, page, back)
    }
  }
]

/** Does as a browser that is sent by another site: it leaves out the Strict cookies. */
async function cookieTravels (bench: Bench): Promise<Verdict> {
  const cookies = bench.browser.jar.all()
  const strict = cookies.filter(({ sameSite }) => sameSite === 'strict')
  if (strict.length === 0) return known(cookies)
  const rest = cookies.filter(({ sameSite }) => sameSite !== 'strict')
  const arrival = await bench.authorize({}, bench.browserOf({ cookies: rest, headers: bench.settings.user.headers }))
  if (bench.codeOf(arrival) !== null) return pass
  // A page with a script may reload itself; then the browser does send the cookie.
  const severity = loginPageOf(arrival)?.scripted === true ? 'should' : 'must'
  const names = strict.map(({ name }) => name).join(', ')
  return fail(`SameSite=Strict on ${names}; without it ${bench.told(arrival.exchange)}`, undefined, severity)
}

function known (cookies: Cookie[]): Verdict {
  const silent = cookies.filter(({ sameSite }) => sameSite === undefined).map(({ name }) => name)
  if (silent.length === 0) return pass
  const reason = `SameSite of ${silent.join(', ')} is not known: give the whole Set-Cookie line, or --login-command`
  return { outcome: 'untested', reason }
}

/** @throws Untested when the service shows no page of its own */
async function loginPage (bench: Bench): Promise<LoginPage> {
  const arrival = await bench.loginPage()
  const page = loginPageOf(arrival)
  if (page === null) throw new Untested(`the service shows no login page of its own: ${bench.told(arrival.exchange)}`)
  return page
}

/** The parameter of the login page's address that names the authorization endpoint. */
function returnAddress (url: string): string | undefined {
  return [...new URL(url).searchParams.values()].find((value) =>
    URL.canParse(value, url) && new URL(value, url).pathname.endsWith('/oauth/authorize'))
}

/** Opens the return address as the user who has logged in. */
async function returnsToPortal (bench: Bench, page: LoginPage, back: string): Promise<Verdict> {
  const target = new URL(back, page.url)
  if (bench.browser.leaves(target.href)) {
    throw new Untested(`the login page returns to ${target.origin}, not to the base URL`)
  }
  await bench.code()
  const returned = await bench.browser.open(target.href)
  if (bench.codeOf(returned) !== null) return keepsReturn(bench, page)
  const got = bench.secrets.mask(`${target.pathname}${target.search === '' ? ' without its query' : ''}: ` +
    describe(returned.exchange))
  // Without a query the address may be completed from a session.
  return fail(got, undefined, target.search === '' ? 'should' : 'must')
}

/**
 * The login page is the same for two requests with different states, and no cookie tells the two apart: after the login
 * nothing leads back to the request.
 */
async function forgets (bench: Bench, page: LoginPage): Promise<Verdict> {
  const browser = bench.browserOf()
  const other = await bench.authorize({}, browser)
  const stateless = bench.anonymous.jar.all().length === 0 && browser.jar.all().length === 0
  if (other.url !== page.url || !stateless) throw new Untested('the login page names no return address')
  return fail(`the login page ${new URL(page.url).pathname}, without the address to return to`, RETURN_FIX,
    page.scripted ? 'should' : 'must')
}

const RETURN_FIX = 'Give the login page the address to return to (the plugin adds return_to to a loginPage that is ' +
  'a string), and redirect there after the login.'

/**
 * The page is told the address. Where its source is the same for two requests and every form has an address of its own,
 * nothing but a cookie or a script could carry it on.
 */
async function keepsReturn (bench: Bench, page: LoginPage): Promise<Verdict> {
  const other = loginPageOf(await bench.authorize({}, bench.browserOf()))
  const constant = other?.response.body === page.response.body && page.forms.length > 0
  const dropped = constant && page.forms.every(({ action }) => action !== undefined && action !== '')
  if (!dropped || bench.anonymous.jar.all().length > 0 || setsCookie(page.response)) return pass
  const [form] = page.forms
  return fail(`a form with action="${bench.secrets.mask(String(form?.action))}", without the address to return to`,
    'Keep return_to when the form is sent: in its action, or in a hidden field.', page.scripted ? 'should' : 'must')
}

const atEndpoint = ({ portal }: Bench, url: string): boolean => url.split('?')[0] === portal.authorizeUrl
