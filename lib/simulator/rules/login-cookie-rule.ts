import type { Arrival } from '../../flow/browser.ts'
import { codeOf } from '../../flow/browser.ts'
import type { Cookie } from '../../flow/cookies.ts'
import { CookieJar } from '../../flow/cookies.ts'
import { Failed, Untested } from './errors.ts'
import { loginPageOf, shownAt } from './login-page.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'
import { namesOf } from './without-user.ts'

/** What a browser that comes from another site sends of the session. */
export const LOGIN_COOKIE_RULE: Rule = {
  id: 'login.cookie',
  section: 'Set-Cookie',
  severity: 'must',
  sentence: 'The session cookie is sent when the browser comes from the portal.',
  fix:
    'Set the session cookie with SameSite=Lax: ' +
    'browsers do not send a Strict one when another site, the portal, redirects to the ' +
    'application.',
  test: (service) => service.hasUser ? cookieTravels(service) : setsTravellingCookies(service)
}

const isStrict = ({ sameSite }: Cookie): boolean => sameSite === 'strict'

/** Leaves out the Strict cookies, as a browser does that another site redirects. */
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
  const got = `SameSite=Strict on ${namesOf(strict)}; without it ${shownAt(arrival)}`
  expect(codeOf(arrival) !== null, got, undefined, loginPageOf(arrival)?.severity)
}

function without (service: Service, omitted: Cookie[]): Promise<Arrival> {
  const cookies = service.browser.jar.all().filter((cookie) => !omitted.includes(cookie))
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
    `login; without it ${shownAt(arrival)}`
  const fix = 'Set the session cookie with Path=/, and sign in once in a browser, by serve: ' +
    'there a cookie that is not sent ends at the login page again.'
  expect(codeOf(arrival) !== null, got, fix, 'should')
}

async function setInReach (service: Service): Promise<boolean> {
  const page = loginPageOf(await service.loggedOut())
  const jar = new CookieJar()
  for (const action of page?.actions ?? []) {
    if (URL.canParse(action, page?.url)) jar.take('session=1', new URL(action, page?.url))
  }
  return jar.header(new URL(service.integration.authorizeUrl)) !== ''
}

/** Without a user it is not known which of the cookies is the session. */
async function setsTravellingCookies (service: Service): Promise<void> {
  await service.loggedOut()
  const { pathname } = new URL(service.integration.authorizeUrl)
  const withheld = service.anonymous.jar.all()
    .find((cookie) => isStrict(cookie) || !pathname.startsWith(String(cookie.path)))
  if (withheld === undefined) {
    throw new Untested('the service sets no session cookie before the login')
  }
  const reason = isStrict(withheld) ? 'SameSite=Strict' : `Path=${withheld.path}`
  const got = `the service sets the cookie ${withheld.name} with ${reason}; is it the session?`
  throw new Failed(got,
    'Set the session cookie with SameSite=Lax and Path=/.', 'should')
}
