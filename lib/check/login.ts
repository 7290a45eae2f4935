import { codeOf } from '../flow/browser.ts'
import { formsOf } from '../flow/login-form.ts'
import { logIn } from '../flow/user.ts'
import { header, statusOf } from '../flow/wire.ts'
import { isPrivate } from './address.ts'
import { expectFormAction } from './content-security-policy.ts'
import type { Rule } from './rule.ts'
import { advise, expect, Failed, Untested } from './rule.ts'
import { cookiesIn, endOf, isHtml, isIssued, loginPage, stateOf } from './session.ts'
import type { Subject } from './subject.ts'

/** Does the login lead back? */
export const LOGIN: readonly Rule[] = [
  {
    id: 'login.page',
    sentence: 'A browser whose user is not logged in ends on the login page.',
    fix:
      'Create the login page, or correct the option loginPage; where the page fails, see the log of the app. Where a ' +
      "proxy strips a path, give loginPage as a function: (returnTo) => '/app/login?return_to=' + " +
      "encodeURIComponent('/app' + returnTo).",
    isGate: true,
    test: pageIsShown
  },
  {
    id: 'login.cookie',
    sentence: 'Browsers keep the session cookie, and send it when they come from the portal.',
    fix:
      'Set the session cookie with SameSite=Lax, Path=/, HttpOnly, over https Secure, and no Domain. Behind a proxy ' +
      'see whether it takes Set-Cookie away, and whether the app trusts it (trustProxy).',
    isGate: true,
    test: expectTravels
  },
  {
    id: 'login.form-action',
    sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
    fix:
      'Add the portal’s origin to form-action on the login page: browsers apply it to the redirects that follow the ' +
      "form. Helmet’s default is 'self'.",
    test: formLeadsBack
  },
  {
    id: 'login.return',
    sentence: 'The login leads back to the authorization request, and so to the portal.',
    fix:
      "After the login redirect to app.partnerSso.returnTo(request, reply) ?? '/'. Where the address is in the URL " +
      'of the login page or in its form, encode it once (encodeURIComponent), and decode it once.',
    test: loginReturns
  }
]

/** Other logins, which may end the session of the user. */
export const LOGIN_LAST: readonly Rule[] = [
  {
    id: 'login.open-redirect',
    sentence: 'The login leads to no other site, whatever the address of its page names.',
    fix: 'Redirect to app.partnerSso.returnTo(request, reply), which returns addresses of this app only.',
    test: noOpenRedirect
  }
]

async function pageIsShown (subject: Subject) {
  const { integration: { base, authorizeUrl }, options: { users } } = subject
  const arrival = await subject.nobody()
  const { at, exchange, target, url } = arrival
  if (at === 'callback' && users[0]?.login === undefined) {
    throw new Untested('it needs a login page (option loginPage)')
  }
  // A login at another site is fine, but for one that browsers cannot reach.
  if (at === 'elsewhere' && (isPrivate(base.hostname) || !isPrivate((target as URL).hostname))) return
  expect(at === 'page', endOf(arrival), {
    fix:
      'Give the plugin the option loginPage, and exempt that page from the login hook. Where a redirect names an ' +
      'internal host, a proxy or the app builds it: build it without scheme and host.'
  })
  const status = statusOf(exchange)
  // `currentUser` may send the login page, with an error status, or refuse: then the person is left without a login.
  if (status < 400 ? isHtml(exchange) : formsOf(String(exchange.response?.body)).length > 0) return
  expect(status >= 400 && url.startsWith(authorizeUrl), endOf(arrival))
  advise(
    users[0]?.headers !== undefined,
    endOf(arrival),
    'A user who is not logged in has no way to log in here: give the plugin the option loginPage, and let ' +
      '`currentUser` return null where nobody is logged in.'
  )
  throw new Untested('it needs a login page: without the header of its user the app refuses the request')
}

/** The session cookie, as browsers treat it on the way from the portal. */
async function expectTravels (subject: Subject) {
  const { user, browser, set } = await subject.session()
  const cookies = cookiesIn(browser)
  if (cookies.length === 0 || cookies.some(({ sameSite }) => sameSite === undefined)) {
    throw new Untested('it needs the attributes of the session cookie: a login, or the whole response to one')
  }
  for (const { name, value, sameSite, httpOnly, secure } of cookies) {
    const others = cookies.flatMap((one) => one.name === name ? [] : [[one.name, one.value]])
    // Without any other cookie, such as a balancer's, the user is known as well.
    if (await isIssued(subject, { ...user, cookies: Object.fromEntries(others) })) continue
    expect(sameSite !== 'strict', `SameSite=Strict on ${name}: browsers do not send it when the portal redirects`)
    advise(httpOnly, `no HttpOnly on ${name}: scripts can read it`)
    advise(secure || subject.integration.base.protocol === 'http:', `no Secure on ${name}: it is sent over http, too`)
    advise(
      set.every((old) => old.name !== name || old.value === value),
      `/oauth/authorize replaces the cookie ${name}`,
      'See which hook sets it again: two requests at once may lose the session.'
    )
  }
}

/** Browsers apply the form-action of a page to the redirects that follow its form. */
async function formLeadsBack (subject: Subject) {
  const { exchange } = await loginPage(subject)
  const forms = formsOf(String(exchange.response?.body))
  if (forms.every(({ method }) => method === 'GET')) {
    throw new Untested('it needs a login page with a form that is sent by POST')
  }
  const steps = subject.options.users.length === 0 ? [] : (await subject.entered()).steps
  // A login that responds with JSON was sent by a script, which form-action does not touch.
  if (/json/.test(header(steps[0]?.hops[0]?.response, 'content-type'))) return
  expectFormAction(exchange, subject.integration.redirectUri)
}

/** The way back, by a real login: to the authorization request that it came from. */
async function loginReturns (subject: Subject) {
  const { state, steps } = await subject.entered()
  const last = steps.at(-1)
  if (last === undefined) throw new Untested('it needs a login by a form; sign in once in a browser, by serve')
  if (steps.some((step) => codeOf(step) !== null && stateOf(step.exchange) === state)) return
  // JSON for a script, or a page that names the endpoint.
  const { exchange, hops } = last
  const isJson = hops.length === 1 && !isHtml(exchange)
  const page = `${header(exchange.response, 'refresh')} ${exchange.response?.body}`
  const isNamed = /oauth(?:\/|\\\/|\\u002F)authorize/i.test(page)
  if (statusOf(exchange) < 300 && (isJson || isNamed)) {
    throw new Untested(`it needs a browser: a script leads on (${endOf(last)})`)
  }
  throw new Failed(`the login does not lead back to the request that it came from: ${endOf(last)}`, { exchange })
}

const FOREIGN = 'attacker.example'

/** The address of the login page with another address to return to. */
async function withReturn (subject: Subject, value: string) {
  const { url } = await loginPage(subject)
  const changed = url.replace(
    /(?<==)[^&]*oauth(?:\/|%2F)authorize[^&]*/i,
    encodeURIComponent(value)
  )
  if (changed === url) throw new Untested('it needs a login page that has the address to return to in its own')
  return changed
}

/** Opens the login page with a foreign address: for a login, and as a user who is logged in. */
async function noOpenRedirect (subject: Subject) {
  const { user } = await subject.session()
  if (user.login === undefined) throw new Untested('it needs a login by a form')
  // One begins as the app's own, and one passes where only `//` is refused.
  for (const foreign of [`${subject.integration.base.origin}@${FOREIGN}/oauth/authorize`, `/\\${FOREIGN}/`]) {
    const url = await withReturn(subject, foreign)
    const browser = subject.browserOf(user)
    const steps = await logIn(browser, await browser.open(url), user.login)
    const arrivals = [...steps, await browser.open(url)]
    expect(
      arrivals.every(({ target }) => target?.hostname !== FOREIGN),
      `with ${foreign} as the address to return to the login leads there`
    )
  }
}
