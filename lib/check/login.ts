import type { Arrival } from '../flow/browser.ts'
import { codeOf, targetOf } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import { formsOf } from '../flow/login-form.ts'
import { header, statusOf } from '../flow/wire.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { expectUnframed } from './headers.ts'
import { noInjection, noOpenRedirect } from './return-address.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, Stop, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { isMixed, lastTry } from './session.ts'
import { expectTravels } from './session-cookie.ts'
import type { Subject } from './subject.ts'
import { quoted, reasonsOf } from './voice.ts'

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
  },
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
  if (status < 400) return
  const atEndpoint = url.split('?')[0] === subject.integration.authorizeUrl
  if (atEndpoint && subject.options.users[0]?.headers !== undefined) {
    throw new Untested('it needs a login page: without the header of its user the app refuses the request')
  }
  // `currentUser` may refuse by itself; the person is left without a login.
  const details = status === 404 ? { fix: await strippedFix(subject, url) } : {}
  const { pathname } = new URL(url)
  throw new Failed(
    `${quoted(exchange)} at ${pathname}`,
    atEndpoint ? { severity: 'should', fix: NO_LOGIN } : details
  )
}

const NO_LOGIN =
  'A user who is not logged in has no way to log in here: give the plugin the option loginPage, and let ' +
  '`currentUser` return null where nobody is logged in.'

/** A login at another site; not at one that only developers have. */
function leadsOut ({ integration: { base } }: Subject, arrival: Arrival): void {
  const { hostname, origin } = new URL(targetOf(arrival) as string)
  const isLocal = (host: string): boolean =>
    /^(?:localhost|127\.|\[::1\]|10\.|192\.168\.)/.test(host) || !host.includes('.')
  expect(!isLocal(hostname) || isLocal(base.hostname), `the browser is sent to ${origin}`, {
    fix: 'A proxy or the app builds redirects with an internal host name: build them without scheme and host.'
  })
}

/**
 * Where a proxy strips the path of the base URL, the redirects of the app lack that path. Returns
 * the fix if the address responds with the path in front.
 */
async function strippedFix (
  { integration: { base, send } }: Subject,
  url: string
): Promise<string | undefined> {
  const path = base.pathname.replace(/\/$/, '')
  const { pathname, search } = new URL(url)
  if (path === '' || pathname.startsWith(`${path}/`)) {
    return 'Create the login page, or correct the option loginPage.'
  }
  const exchange = await send({
    method: 'GET',
    url: new URL(path + pathname + search, base).href,
    headers: []
  })
  if (statusOf(exchange) >= 400) return undefined
  return (
    `It responds at ${path}${pathname}: a proxy strips ${path}, and the app does not know of it. Give loginPage as a ` +
    'function that puts the path in front of the login page and of the address to return to: ' +
    `(returnTo) => '${path}/login?return_to=' + encodeURIComponent('${path}' + returnTo).`
  )
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
    severity: session?.back != null || forms.some(({ method }) => method === 'POST') ? 'must' : 'should',
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
  if (steps.length === 0) { throw new Untested('it needs a login by a form; sign in once in a browser, by serve') }
  if (back !== null) return cameBack(session, back)
  const last = steps.at(-1) as Arrival
  const arrived = `${describe(last.exchange)} at ${new URL(last.url).pathname}`
  if (isMixed(session)) throw new Untested('it needs processes that share their sessions')
  if (codeOf(lastTry(session)) === null) throw new Untested('it needs a login that succeeds')
  if (last.at === 'page' && leadsOn(last)) { throw new Untested(`it needs a browser: a script leads on (${arrived})`) }
  throw await notBack(subject, session, last, arrived)
}

/** JSON, or a page that names the endpoint: a script of the client goes on from there. */
function leadsOn ({ exchange, hops }: Arrival): boolean {
  const { response } = exchange
  const isPage = /html/.test(header(response, 'content-type'))
  return (hops.length === 1 && !isPage) || response?.body.includes('/oauth/authorize') === true
}

/** Why a login that succeeded does not lead back. */
async function notBack (subject: Subject, { url }: Session, last: Arrival, arrived: string): Promise<Failed> {
  const endpoint = subject.integration.authorizeUrl
  const came = last.hops.find((hop) => hop.request.url.split('?')[0] === endpoint)
  const reasons = came === undefined ? [] : reasonsOf(came)
  if (came !== undefined && reasons.length > 0) {
    const lost = [...new URL(url).searchParams.keys()].filter(
      (name) => !new URL(came.request.url).searchParams.has(name)
    )
    return new Failed(
      `the login returns to the request without its ${lost.join(', ') || 'right values'}: ${describe(came)}`,
      {
        reasons,
        fix: 'Encode the address in the URL of the login page and in its form (encodeURIComponent).'
      }
    )
  }
  const stripped = statusOf(last.exchange) === 404 ? await strippedFix(subject, last.url) : undefined
  const isOut = last.at === 'elsewhere'
  return new Failed(
    isOut
      ? `the login leads out of the app: ${describe(last.exchange)}`
      : `after the login the browser is not sent back: ${arrived}`,
    { fix: stripped }
  )
}

/** The login led to the portal: with the state of the request that it came from. */
function cameBack ({ url }: Session, back: Arrival): void {
  const target = new URL(targetOf(back) as string)
  const [sent, returned] = [new URL(url), target].map(({ searchParams }) => searchParams.get('state'))
  if (target.searchParams.has('error') || sent === returned) return
  throw new Failed(
    `the login changes the state of the request: ${shown(sent)} comes back as ${shown(returned)}`,
    {
      fix: 'Encode the address of the request once, for the URL of the login page, and decode it once.'
    }
  )
}

const shown = (state: string | null | undefined): string =>
  state == null ? 'nothing' : `…${state.slice(-6)}`

/** Why nobody is logged in after a login. @throws Stop, Failed */
export function whyNobody (subject: Subject, session: Session): never {
  const { user, steps, browser, set } = session
  const arrival = lastTry(session)
  const seen = `${describe(arrival.exchange).replace(/\?\S*/, '')} at ${new URL(arrival.url).pathname}`
  const refused = [...browser.jar.refused].map(([name, why]) => `${name}: ${why}`)
  if (refused.length > 0) {
    throw new Failed(`browsers do not keep the cookie ${refused.join('; ')}`, { rule: 'login.cookie' })
  }
  const last = steps.at(-1)
  if (last !== undefined) {
    const login = `${describe(last.exchange).replace(/\?\S*/, '')} at ${new URL(last.url).pathname}`
    const succeeded = set.length > 0 && (last.hops.length > 1 || last.at !== 'page')
    if (!succeeded) {
      throw new Stop(`The login does not succeed (${login}): give the fields of a user who may enter.`)
    }
    const names = set.map(({ name }) => name).join(', ')
    const isSent = browser.jar.header(new URL(subject.integration.authorizeUrl)) !== ''
    throw new Failed(
      isSent
        ? `the login sets ${names}, which is sent, and the login page comes again (${seen})`
        : `the login sets ${names}, which browsers do not send to /oauth/authorize (${seen})`,
      {
        rule: 'login.cookie',
        fix: isSent
          ? 'See whether `currentUser` reads this session, and whether something in front takes the Cookie header away.'
          : 'Set the session cookie with Path=/.'
      }
    )
  }
  const given = [
    ...browser.jar
      .all()
      .map(({ name }) => name)
      .filter((name) => !/partner-sso-return/.test(name)),
    ...Object.keys(user.headers ?? {})
  ]
  throw new Stop(
    given.length === 0
      ? `Nobody is logged in (${seen}): give a login, a cookie or a header of a user who may enter.`
      : `${given.join(', ')} logs nobody in (${seen}): has it expired, is its name another one, is its value signed?`
  )
}

/** Whether two browsers ended on the same page or at the same redirect. */
export const alike = (one: Arrival, other: Arrival): boolean => {
  const place = (arrival: Arrival) =>
    JSON.stringify([arrival.at, statusOf(arrival.exchange), (targetOf(arrival) ?? arrival.url).split('?')[0]])
  return place(one) === place(other)
}
