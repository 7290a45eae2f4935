import type { RefusalReason } from '../errors.ts'
import type { Arrival } from '../flow/browser.ts'
import { codeOf, targetOf } from '../flow/browser.ts'
import { CookieJar } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import { formsOf } from '../flow/login-form.ts'
import { header, statusOf } from '../flow/wire.ts'
import { isReachable } from './address.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { expectUnframed } from './headers.ts'
import { noInjection, noOpenRedirect } from './return-address.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, Stop, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { isMixed, lastTry } from './session.ts'
import { expectTravels } from './session-cookie.ts'
import type { Subject } from './subject.ts'
import { becameOf, notThePlugin, quoted, reasonsOf } from './voice.ts'

/** Does the login lead back? */
export const LOGIN: readonly Rule[] = [
  {
    id: 'login.page',
    severity: 'must',
    sentence: 'A browser whose user is not logged in ends on the login page.',
    fix: 'Open the authorization address in a private window and follow its redirects.',
    isGate: true,
    test: async (subject) => pageIsShown(subject, (await subject.nobody()).arrival)
  },
  {
    id: 'login.cookie',
    severity: 'must',
    sentence: 'Browsers keep the session cookie, and send it when they come from the portal.',
    fix: 'Set the session cookie with SameSite=Lax, Path=/, HttpOnly, over https Secure, and no Domain.',
    isGate: true,
    test: expectTravels
  },
  {
    id: 'login.form-action',
    severity: 'must',
    sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
    fix: 'Add the portal’s origin to form-action on the login page.',
    test: formLeadsBack
  },
  {
    id: 'login.framing',
    severity: 'should',
    sentence: 'No other site can show the login page in a frame.',
    fix: "Send Content-Security-Policy: frame-ancestors 'none' with the login page.",
    test: async (subject) => expectUnframed((await loginPage(subject)).exchange)
  },
  {
    id: 'login.return',
    severity: 'must',
    sentence: 'The login leads back to the authorization request, and so to the portal.',
    fix: "After the login redirect to app.partnerSso.returnTo(request, reply) ?? '/'.",
    test: loginReturns
  }
]

/** Other logins, which may end the session of the user. */
export const LOGIN_LAST: readonly Rule[] = [
  {
    id: 'login.open-redirect',
    severity: 'must',
    sentence: 'The login leads to no other site, whatever the address of its page names.',
    fix: 'Redirect to app.partnerSso.returnTo(request, reply), which returns addresses of this app only.',
    test: async (subject) => noOpenRedirect(subject, await loginPage(subject))
  },
  {
    id: 'login.no-injection',
    severity: 'must',
    sentence: 'The login page does not print its address as HTML.',
    fix: 'Escape what the page shows of its URL, also in attributes and scripts.',
    test: async (subject) => noInjection(subject, await loginPage(subject))
  }
]

/** The page that nobody in particular gets. @throws Untested where the app has none of its own */
async function loginPage (subject: Subject): Promise<Arrival> {
  const { arrival } = await subject.nobody()
  const isPage = arrival.at === 'page' && statusOf(arrival.exchange) < 400
  if (!isPage) throw new Untested('the app has no login page of its own')
  return arrival
}

async function pageIsShown (subject: Subject, arrival: Arrival): Promise<void> {
  const { at, exchange, url } = arrival
  const status = statusOf(exchange)
  if (at === 'callback') throw new Untested('it needs a login page (option loginPage)')
  expect(at !== 'loop', `redirects that do not end, the last ${describe(exchange)}`, {
    fix: 'Exempt the login page from the login hook.'
  })
  if (at === 'elsewhere') return leadsOut(subject, arrival)
  const atEndpoint = url.split('?')[0] === subject.integration.authorizeUrl
  const isPage = /html/.test(header(exchange.response, 'content-type'))
  if (status < 400 && !isPage) throw notThePlugin(exchange, 'authorize')
  const encoding = header(exchange.response, 'content-encoding')
  expect(encoding === '', `Content-Encoding: ${encoding}, which nobody asked for, at ${url.split('?')[0]}`, {
    fix: 'Something compresses without Accept-Encoding: correct it.'
  })
  // `currentUser` may send the login page itself.
  if (status < 400 || (atEndpoint && formsOf(String(exchange.response?.body)).length > 0)) return
  if (atEndpoint && subject.options.users[0]?.headers !== undefined) {
    throw new Untested('it needs a login page: without the header of its user the app refuses the request')
  }
  // `currentUser` may refuse by itself; the person is left without a login.
  const { pathname } = new URL(url)
  throw new Failed(
    `${quoted(exchange)} at ${pathname}`,
    atEndpoint ? { severity: 'should', fix: NO_LOGIN } : { fix: NO_PAGE }
  )
}

const NO_LOGIN =
  'A user who is not logged in has no way to log in here: give the plugin the option loginPage, and let ' +
  '`currentUser` return null where nobody is logged in.'

const NO_PAGE =
  'Create the login page, or correct the option loginPage. Where a proxy strips a path, /app, give loginPage as a ' +
  "function: (returnTo) => '/app/login?return_to=' + encodeURIComponent('/app' + returnTo)."

/** A login at another site; not at one that browsers cannot reach. */
function leadsOut ({ integration: { base } }: Subject, arrival: Arrival): void {
  const { hostname, origin } = new URL(targetOf(arrival) as string)
  expect(isReachable(hostname, base.hostname), `the browser is sent to ${origin}`, {
    fix: 'A proxy or the app builds redirects with an internal host name: build them without scheme and host.'
  })
}

/** Browsers apply the form-action of a page to the redirects that follow its form. */
async function formLeadsBack (subject: Subject): Promise<void> {
  const { url, exchange } = await loginPage(subject)
  const response = exchange.response as NonNullable<typeof exchange.response>
  const forms = formsOf(response.body)
  if (forms.length === 0) throw new Untested('it needs a login page with a form')
  const { redirectUri } = subject.integration
  const blocking = formActionBlocking(policiesOf(response), url, redirectUri)
  if (blocking === undefined) return
  const session = subject.options.users.length === 0 ? null : await subject.session()
  const [sent] = session?.steps.flatMap(({ hops }) => hops) ?? []
  // A login that responds with JSON was sent by a script, which form-action does not touch.
  const isScript = sent !== undefined && /json/.test(header(sent.response, 'content-type'))
  if (isScript) return
  const { origin } = new URL(redirectUri)
  throw new Failed(blocking, {
    severity: forms.some(({ method }) => method === 'POST') ? 'must' : 'should',
    fix:
      `Add ${origin} to form-action on the login page: browsers apply it to the redirects that follow the form. ` +
      "Helmet’s default is 'self'."
  })
}

/** The way back, by a real login. */
async function loginReturns (subject: Subject): Promise<void> {
  const { arrival } = await subject.nobody()
  if (arrival.at === 'callback') throw new Untested('it needs a login page')
  if (subject.options.users.length === 0) throw new Untested('it needs a login by a form')
  const session = await subject.session()
  const { steps, back } = session
  if (steps.length === 0) {
    throw new Untested('it needs a login by a form; sign in once in a browser, by serve')
  }
  if (back !== null) return cameBack(subject, session, back)
  const last = steps.at(-1) as Arrival
  const arrived = `${describe(last.exchange)} at ${new URL(last.url).pathname}`
  const isChanged = last.at === 'elsewhere' && codeOf(last) !== null
  if (isMixed(session) || codeOf(lastTry(session)) === null || isChanged) {
    throw new Untested('it needs a login that succeeds, and redirects that arrive unchanged')
  }
  if (last.at === 'page' && leadsOn(subject, last)) {
    throw new Untested(`it needs a browser: a script leads on (${arrived})`)
  }
  throw notBack(subject, session, last, arrived)
}

/** JSON, a page that names the endpoint, or one that stands there, such as one that asks for consent. */
function leadsOn ({ integration: { authorizeUrl } }: Subject, { exchange, hops, url }: Arrival): boolean {
  const { response } = exchange
  const isPage = /html/.test(header(response, 'content-type'))
  const isOn = (hops.length === 1 && !isPage) || response?.body.includes('/oauth/authorize') === true
  return statusOf(exchange) < 400 && (isOn || url.split('?')[0] === authorizeUrl)
}

/** Why a login that succeeded does not lead back. */
function notBack (subject: Subject, { url }: Session, last: Arrival, arrived: string): Failed {
  const endpoint = subject.integration.authorizeUrl
  const came = last.hops.find((hop) => hop.request.url.split('?')[0] === endpoint)
  const reasons = came === undefined ? [] : reasonsOf(came)
  if (came !== undefined && reasons.length > 0) {
    const lost = [...new URL(url).searchParams.keys()].filter(
      (name) => !new URL(came.request.url).searchParams.has(name)
    )
    return new Failed(
      `the login returns to the request, which has lost parameters [${lost.join(', ')}]: ${describe(came)}`,
      {
        reasons,
        fix: 'Encode the address in the URL of the login page and in its form (encodeURIComponent).'
      }
    )
  }
  return new Failed(`after the login the browser is not sent back: ${arrived}`)
}

/** The login led to the portal: with the state of the request that it came from. */
async function cameBack (subject: Subject, session: Session, back: Arrival): Promise<void> {
  const target = new URL(targetOf(back) as string)
  const became = becameOf(back.exchange, 'login.return')
  if (
    target.searchParams.has('error') &&
    became !== null &&
    !reasonsOf(back.exchange).some((reason) => OF_APP.includes(reason))
  ) {
    throw notBack(subject, session, back, '')
  }
  const [sent, returned] = [new URL(session.url), target].map(({ searchParams }) => searchParams.get('state'))
  if (target.searchParams.has('error') || sent === returned) return
  const direct = await subject.ask(session.browser, { state: sent as string })
  const isKept = new URL(header(direct.response, 'location'), session.url).searchParams.get('state') === sent
  throw new Failed(`the state of the request ${shown(sent)} comes back as ${shown(returned)}`, {
    rule: isKept ? 'login.return' : 'authorize.state',
    fix: isKept
      ? 'Encode the address of the request once, for the URL of the login page, and decode it once.'
      : undefined
  })
}

/** Refusals that are no matter of the way. */
export const OF_APP: readonly RefusalReason[] = ['store_unavailable', 'internal_error', 'portal_failed']

const shown = (state: string | null | undefined): string => `…${String(state).slice(-6)}`

const READS =
  'See whether `currentUser` reads this session and returns its user, and whether something in front takes the ' +
  'Cookie header away.'
const KEEPS =
  'See whether the login sets a cookie that lasts, whether something in front takes Set-Cookie away, and, for a ' +
  'Secure one behind a proxy, whether the app trusts it (trustProxy).'

/** Why nobody is logged in. @throws Stop, Failed */
export function whyNobody (subject: Subject, session: Session): never {
  const { user, steps, browser, set, back } = session
  const arrival = lastTry(session)
  const seen = `${describe(arrival.exchange).replace(/\?\S*/, '')} at ${pathOf(arrival.url)}`
  const refused = [...browser.jar.refused].map(([name, why]) => `${name}: ${why}`)
  if (refused.length > 0) {
    throw new Failed(`browsers do not keep the cookie ${refused.join('; ')}`, { rule: 'login.cookie' })
  }
  const last = steps.at(-1)
  if (last === undefined) throw new Stop(unknown(session, Object.keys(user.headers ?? {}), seen))
  const status = statusOf(last.exchange)
  const login = `${describe(last.exchange).replace(/\?\S*/, '')} at ${pathOf(last.url)}`
  const isAway = last.hops.slice(1).some(({ request }) => pathOf(request.url) !== pathOf(session.first.url))
  if (back === null && !isAway) {
    if (status === 404 || status === 405 || status >= 500) {
      throw new Failed(`the form of the login page leads to ${login}`, {
        rule: 'login.page',
        fix: 'Give the form the address of the login.'
      })
    }
    throw new Stop(`The login does not succeed (${login}): give the fields of a user who may enter.`)
  }
  if (set.length === 0) {
    throw new Failed(`the login succeeds, and browsers have no cookie of it (${seen})`, {
      rule: 'login.cookie',
      fix: KEEPS
    })
  }
  const names = set.map(({ name }) => name).join(', ')
  const isSent = set.some(
    (cookie) => new CookieJar([cookie]).header(new URL(subject.integration.authorizeUrl)) !== ''
  )
  if (!isSent) {
    throw new Failed(`the login sets ${names}, which browsers do not send to /oauth/authorize (${seen})`, {
      rule: 'login.cookie',
      fix: 'Set the session cookie with Path=/.'
    })
  }
  throw new Failed(`the login sets ${names}, which is sent, and the login comes again (${seen})`, {
    rule: 'authorize.code',
    fix: READS
  })
}

const pathOf = (url: string): string => new URL(url).pathname

function unknown ({ browser }: Session, headers: string[], seen: string): string {
  const cookies = browser.jar
    .all()
    .map(({ name }) => name)
    .filter((name) => !/partner-sso-return/.test(name))
  const given = [...cookies, ...headers]
  return `${given.join(', ')} logs nobody in (${seen}): has it expired, is its name another one, is its value signed?`
}

/** Whether two browsers ended on the same page or at the same redirect. */
export const alike = (one: Arrival, other: Arrival): boolean => {
  const place = (arrival: Arrival) =>
    JSON.stringify([arrival.at, statusOf(arrival.exchange), (targetOf(arrival) ?? arrival.url).split('?')[0]])
  return place(one) === place(other)
}
