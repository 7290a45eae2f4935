// Does the login lead back?
import type { Arrival } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { formsOf } from '../flow/login-form.ts'
import type { User } from '../flow/user.ts'
import { logIn } from '../flow/user.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, headerValues, statusOf } from '../flow/wire.ts'
import { isPrivate } from './address.ts'
import { formActionAgainst } from './content-security-policy.ts'
import type { Rule } from './rule.ts'
import type { Session } from './session.ts'
import { cookiesIn, endOf, isHtml, stateOf } from './session.ts'
import type { Subject } from './subject.ts'
import type { Or, Verdict } from './verdict.ts'
import { advice, Fault, gravest, isVerdict, Untested } from './verdict.ts'
import { hasCode } from './voice.ts'

export const loginPage: Rule = {
  id: 'login.page',
  group: 'login',
  severity: 'must',
  sentence: 'A browser whose user is not logged in ends on the login page.',
  fix:
    'Create the login page, or correct the option loginPage; where the page fails, see the log of the app. Where a ' +
    "proxy strips a path, give loginPage as a function: (returnTo) => '/app/login?return_to=' + " +
    "encodeURIComponent('/app' + returnTo).",
  isGate: true,
  test: pageIsShown
}

export const loginCookie: Rule = {
  id: 'login.cookie',
  group: 'login',
  severity: 'must',
  sentence: 'Browsers keep the session cookie, and send it when they come from the portal.',
  fix:
    'Set the session cookie with SameSite=Lax, Path=/, HttpOnly, over https Secure, and no Domain. Behind a proxy ' +
    'see whether it takes Set-Cookie away, and whether the app trusts it (trustProxy).',
  isGate: true,
  test: cookieTravels
}

export const loginFormAction: Rule = {
  id: 'login.form-action',
  group: 'login',
  severity: 'must',
  sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
  fix:
    'Add the portal’s origin to form-action on the login page: browsers apply it to the redirects that follow the ' +
    "form. Helmet’s default is 'self'.",
  test: formLeadsBack
}

export const loginReturn: Rule = {
  id: 'login.return',
  group: 'login',
  severity: 'must',
  sentence: 'The login leads back to the authorization request, and so to the portal.',
  fix:
    "After the login redirect to app.partnerSso.returnTo(request, reply) ?? '/'. Where the address is in the URL " +
    'of the login page or in its form, encode it once (encodeURIComponent), and decode it once.',
  test: loginReturns
}

export const loginOpenRedirect: Rule = {
  id: 'login.open-redirect',
  group: 'login',
  severity: 'must',
  sentence: 'The login leads to no other site, whatever the address of its page names.',
  fix: 'Redirect to app.partnerSso.returnTo(request, reply), which returns addresses of this app only.',
  test: noOpenRedirect
}

async function pageIsShown (subject: Subject): Promise<Verdict> {
  const { integration: { base, authorizeUrl }, options: { users: [user], isInProcess } } = subject
  const arrival = await subject.nobody()
  const { at, exchange, target, url } = arrival
  if (at === 'callback' && user?.login === undefined) return new Untested('it needs a login page (option loginPage)')
  // A login at another site is fine, but for one that browsers cannot reach.
  if (at === 'elsewhere' && (isPrivate(base.hostname) || !isPrivate((target as URL).hostname))) return null
  if (at !== 'page') {
    return new Fault(endOf(arrival), {
      fix:
        'Give the plugin the option loginPage, and exempt that page from the login hook. Where a redirect names an ' +
        'internal host, a proxy or the app builds it: build it without scheme and host.'
    })
  }
  const status = statusOf(exchange)
  const isEndpoint = url.startsWith(authorizeUrl)
  if (isInProcess && status === 404 && !isEndpoint && !hasFields(user)) {
    return new Untested(`it needs the login page, which this app does not serve: ${endOf(arrival)}`)
  }
  // `currentUser` may send the login page, with an error status, or refuse: then the person is left without a login.
  if (status < 400 ? isHtml(exchange) : formsOf(String(exchange.response?.body)).length > 0) return null
  if (status < 400 || !isEndpoint) return new Fault(endOf(arrival))
  return user?.headers !== undefined
    ? new Untested('it needs a login page: without the header of its user the app refuses the request')
    : advice(
      endOf(arrival),
      'A user who is not logged in has no way to log in here: give the plugin the option loginPage, and let ' +
      '`currentUser` return null where nobody is logged in.'
    )
}

const hasFields = (user: User | undefined) => user?.login !== undefined && typeof user.login !== 'function'

/** Seconds of a session that nobody logs in for, and of one that is short. Milliseconds are taken for seconds. */
const TOO_SHORT = 30
const SHORT = 300

/** The fault of a session that is over before a person has read a page. */
export function lifetimeOf (cookies: readonly Cookie[]): Fault | null {
  const fix =
    'See the unit: maxAge is in milliseconds for @fastify/session and express-session (3600000 is an hour), and in ' +
    'seconds for @fastify/cookie.'
  for (const { name, lifetime = Infinity } of cookies) {
    const got = `the cookie ${name} expires after ${Math.round(lifetime)} s`
    if (lifetime < TOO_SHORT) return new Fault(got, { rule: 'login.cookie', fix })
    if (lifetime < SHORT) return advice(got, fix)
  }
  return null
}

/** The session cookie, as browsers treat it on the way from the portal. */
async function cookieTravels (subject: Subject): Promise<Verdict> {
  const session = await subject.session()
  if (isVerdict(session)) return session
  const cookies = cookiesIn(session.browser)
  if (cookies.length === 0 || cookies.some(({ sameSite }) => sameSite === undefined)) {
    return new Untested('it needs the attributes of the session cookie: a login, or the whole response to one')
  }
  const verdicts: Verdict[] = []
  for (const cookie of cookies) {
    // Without any other cookie, such as a balancer's, the user is known as well.
    if (!await isIssued(subject, session, cookie.name)) verdicts.push(await judgedCookie(subject, session, cookie))
  }
  return gravest(verdicts)
}

async function judgedCookie (subject: Subject, session: Session, cookie: Cookie): Promise<Verdict> {
  const { name, value, sameSite, httpOnly, secure } = cookie
  const old = session.set.find((one) => one.name === name)
  const isReplaced = old !== undefined && old.value !== value
  const isHttp = subject.integration.base.protocol === 'http:'
  return gravest([
    sameSite === 'strict' ? await strict(subject, name) : null,
    lifetimeOf([cookie]),
    httpOnly ? null : advice(`no HttpOnly on ${name}: scripts can read it`),
    secure || isHttp ? null : advice(`no Secure on ${name}: it is sent over http, too`),
    // A sealed cookie may be another text each time: then the one before is good as well.
    isReplaced && !await isIssued(subject, session, name, old.value)
      ? advice(
        `/oauth/authorize replaces the cookie ${name}`,
        'See which hook sets it again: two requests at once may lose the session.'
      )
      : null
  ])
}

/** A Strict cookie is sent where a page of the app leads on: a script of the login page may do so. */
async function strict (subject: Subject, name: string): Promise<Verdict> {
  // One that the endpoint removes serves one sign-in: the app sets it for each, and leads on.
  if (subject.seen.some((exchange) => removes(exchange, name))) return null
  const page = await subject.loginPage()
  const forms = isVerdict(page) ? [] : formsOf(String(page.exchange.response?.body))
  const isTyped = isVerdict(page) || forms.some(({ method }) => method === 'POST')
  const got = `SameSite=Strict on ${name}: browsers do not send it when the portal redirects`
  return isTyped ? new Fault(got) : advice(`${got}, unless a script of the login page leads on`)
}

/** Whether a response removes a cookie. */
const removes = ({ response }: Exchange, name: string) =>
  headerValues(response, 'set-cookie').some((line) => line.startsWith(`${name}=;`))

/** Whether the user gets a code without this cookie, or with another value of it. */
async function isIssued (subject: Subject, { user, browser }: Session, name: string, value?: string) {
  const others = cookiesIn(browser).filter((one) => one.name !== name).map((one) => [one.name, one.value])
  if (value !== undefined) others.push([name, value])
  const other = subject.browserOf({ ...user, cookies: Object.fromEntries(others) })
  const { hops } = await subject.authorize(other)
  return hops.some(hasCode)
}

/** Browsers apply the form-action of a page to the redirects that follow its form. */
async function formLeadsBack (subject: Subject): Promise<Verdict> {
  const page = await subject.loginPage()
  if (isVerdict(page)) return page
  const forms = formsOf(String(page.exchange.response?.body))
  if (forms.every(({ method }) => method === 'GET')) {
    return new Untested('it needs a login page with a form that is sent by POST')
  }
  const session = await subject.entered()
  // A login that responds with JSON was sent by a script, which form-action does not touch.
  if (!isVerdict(session) && /json/.test(header(session.steps[0]?.hops[0]?.response, 'content-type'))) return null
  const directive = formActionAgainst(page.exchange, subject.integration.redirectUri)
  return directive === null ? null : new Fault(directive)
}

/** The way back, by a real login: to the authorization request that it came from. */
async function loginReturns (subject: Subject): Promise<Verdict> {
  const session = await subject.entered()
  if (isVerdict(session)) return session
  const { state, steps } = session
  const last = steps.at(-1)
  if (last === undefined) return new Untested('it needs a login by a form (--login), or one in a browser, by serve')
  if (steps.some((step) => codeOf(step) !== null && stateOf(step.exchange) === state)) return null
  if (await isForgotten(subject, session)) {
    return new Fault(`the login leads back, and the login comes again (${endOf(last)}); later the user gets a code`, {
      rule: 'service.one-store',
      fix:
        'Let all processes share one store of sessions and one configuration. Where there is one process: a login ' +
        'that redirects before its session is stored must wait for it.'
    })
  }
  // JSON for a script, or a page that names the endpoint.
  const { exchange, hops } = last
  const isJson = hops.length === 1 && !isHtml(exchange)
  const page = `${header(exchange.response, 'refresh')} ${exchange.response?.body}`
  const isNamed = /oauth(?:\/|\\\/|\\u002F)authorize/i.test(page)
  if (statusOf(exchange) < 300 && (isJson || isNamed)) {
    return new Untested(`it needs a browser: a script leads on (${endOf(last)})`)
  }
  return new Fault(`the login does not lead back to the request that it came from: ${endOf(last)}`, { exchange })
}

/** Whether the login led back, and the user was unknown there, but is known now. */
async function isForgotten (subject: Subject, { state, steps, arrival }: Session): Promise<boolean> {
  const { authorizeUrl } = subject.integration
  const isLedBack = steps.some(({ hops }) =>
    hops.some((hop) => hop.request.url.startsWith(authorizeUrl) && stateOf(hop) === state))
  return isLedBack && codeOf(arrival) !== null && subject.isAtLogin(steps.at(-1) as Arrival)
}

const FOREIGN = 'attacker.example'

/** The address of the login page with another address to return to. */
async function withReturn (subject: Subject, value: string): Promise<Or<string>> {
  const page = await subject.loginPage()
  if (isVerdict(page)) return page
  const changed = page.url.replace(
    /(?<==)[^&]*oauth(?:\/|%2F)authorize[^&]*/i,
    encodeURIComponent(value)
  )
  return changed === page.url
    ? new Untested('it needs a login page that has the address to return to in its own')
    : changed
}

/** Opens the login page with a foreign address: for a login, and as a user who is logged in. */
async function noOpenRedirect (subject: Subject): Promise<Verdict> {
  const session = await subject.session()
  if (isVerdict(session)) return session
  const { user } = session
  if (user.login === undefined) return new Untested('it needs a login by a form (--login)')
  // One begins as the app's own, and one passes where only `//` is refused.
  for (const foreign of [`${subject.integration.base.origin}@${FOREIGN}/oauth/authorize`, `/\\${FOREIGN}/`]) {
    const url = await withReturn(subject, foreign)
    if (isVerdict(url)) return url
    const browser = subject.browserOf(user)
    const steps = await logIn(browser, await browser.open(url), user.login)
    const arrivals = [...steps, await browser.open(url)]
    if (arrivals.some(({ target }) => target?.hostname === FOREIGN)) {
      return new Fault(`with ${foreign} as the address to return to the login leads there`)
    }
  }
  return null
}
