// Who gets in?
import type { Arrival } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { CookieJar } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import { whyNotLoggedIn } from '../flow/user.ts'
import type { Exchange } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'
import { lifetimeOf } from './login.ts'
import { notRegistered } from './reach.ts'
import type { Rule } from './rule.ts'
import type { Session } from './session.ts'
import { cookiesIn, endOf, isHtml, stateOf } from './session.ts'
import type { Subject } from './subject.ts'
import { INELIGIBLE } from './subject.ts'
import type { Or, Verdict } from './verdict.ts'
import { Fault, isVerdict, Untested } from './verdict.ts'
import { becameOf, notThePlugin, reasonsOf } from './voice.ts'

/** What to do where the plugin refuses a browser, by its reason. */
const FIXES: Record<string, string> = {
  not_eligible:
    'For a browser without a session `currentUser` must return null, not {}. For this user, if one who may enter, ' +
    '`portalEligibility` returned null, or nothing (a forgotten return).',
  current_user_failed:
    'See `err` in the log line of the app: a function of the app threw, such as `currentUser` where nobody is logged ' +
    'in (return null there), or the record of this user breaks a rule (`rule`).'
}

/** The fault where the plugin refuses for one of these reasons. */
function refusedByFunction (exchange: Exchange): Fault | null {
  // Of several reasons that share a sentence, the first one names them.
  const fix = FIXES[String(reasonsOf(exchange)[0])]
  return fix === undefined ? null : new Fault(describe(exchange), { exchange, fix })
}

/** Before the login: a `currentUser` that throws, or finds a user for a browser without a session, leaves none. */
export const authorizeLoginNeeded: Rule = {
  id: 'authorize.login-needed',
  group: 'who',
  severity: 'must',
  sentence: 'A browser without a session gets a login instead of a code.',
  fix: 'Let `currentUser` return null where nobody is logged in.',
  isGate: true,
  async test (subject) {
    const arrival = await subject.nobody()
    return codeOf(arrival) === null
      ? refusedByFunction(arrival.exchange)
      : new Fault('a code, without any session')
  }
}

export const authorizeCode: Rule = {
  id: 'authorize.code',
  group: 'who',
  severity: 'must',
  sentence: 'A browser whose user is logged in is redirected to the redirect_uri with a code and the state.',
  fix: 'Try the sign-in in a browser: fastify-partner-sso serve shows every step.',
  isGate: true,
  test: codeIsIssued
}

export const authorizeAccessDenied: Rule = {
  id: 'authorize.access-denied',
  group: 'who',
  severity: 'must',
  sentence:
    'A user who may not enter gets no code, but is sent back to the portal with access_denied, or gets a page that ' +
    'says why.',
  fix: 'Return null from `portalEligibility` for a user who may not enter, or send a page.',
  test: accessIsDenied
}

/** The redirect of the logged-in user, compared with what the plugin sends. */
async function codeIsIssued (subject: Subject): Promise<Verdict> {
  const session = await subject.entered()
  if (isVerdict(session)) {
    return new Untested('No user was given: give one who may enter, by --login or --cookie; a gateway’s by --header.')
  }
  const { arrival } = session
  if (codeOf(arrival) === null) return whyNoCode(subject, session)
  const { redirectUri } = subject.integration
  const { href, searchParams } = arrival.target as URL
  const added = searchParams.size - new URL(redirectUri).searchParams.size
  const isSame = arrival.at === 'callback' && added === 2 && searchParams.get('state') === stateOf(arrival.exchange)
  if (isSame) return null
  return new Fault(`for the redirect_uri ${redirectUri} the code is sent to ${href}, or not with the right state`, {
    fix: 'A proxy (nginx: proxy_redirect) or an onSend hook rewrites the Location or the query: leave them as they are.'
  })
}

/**
 * Nobody can be judged who is not logged in.
 *
 * @param why - what the login itself shows
 */
const nobodyIn = (arrival: Arrival, why?: string | null) => new Untested(
  `Nobody is logged in (${endOf(arrival)}): ${why ?? 'give all fields of the login of a user who may enter, or a ' +
  'cookie or header that has not expired.'}`
)

async function whyNoCode (subject: Subject, session: Session): Promise<Verdict> {
  const { exchange, url } = session.arrival
  const said =
    refusedByFunction(exchange) ??
    (await notRegistered(subject, exchange)) ??
    becameOf(exchange, 'authorize.code')
  if (said !== null) return said
  if (await subject.isAtLogin(session.arrival)) return whyNobody(subject, session)
  const isRefused = statusOf(exchange) >= 400 && url.startsWith(subject.integration.authorizeUrl)
  return isRefused
    ? notThePlugin(exchange)
    : new Fault(`after the login the browser is not sent to the portal: ${endOf(session.arrival)}`)
}

/** Why a user gets the login again. */
function whyNobody (subject: Subject, { user, login, steps, browser, set, arrival }: Session): Verdict {
  const authorizeUrl = new URL(subject.integration.authorizeUrl)
  const last = steps.at(-1)
  const why = whyNotLoggedIn(browser, login, user.login, steps)
  if (last === undefined) return notSent(cookiesIn(browser), authorizeUrl) ?? nobodyIn(arrival, why)
  const [refused] = browser.jar.refused
  if (refused !== undefined) {
    return new Fault(`browsers do not keep the cookie ${refused.join(': ')}`, { rule: 'login.cookie' })
  }
  if ([404, 405, 500].includes(statusOf(last.exchange))) {
    return new Fault(`the form of the login leads to ${endOf(last)}`, {
      rule: 'login.page',
      fix: 'Give the form the address of the login; where the login itself fails, see the log of the app.'
    })
  }
  const isLedBack = steps.some(({ hops }) => hops.some(({ request }) => request.url.startsWith(authorizeUrl.href)))
  if (!isLedBack) return nobodyIn(last, why)
  // A guest may have a session already, which the login keeps.
  const sessions = set.length > 0 ? set : cookiesIn(browser)
  if (new CookieJar(sessions).header(authorizeUrl) === '') {
    return new Fault('no cookie of the login is left for /oauth/authorize', { rule: 'login.cookie' })
  }
  const verdict = lifetimeOf(sessions) ?? shadowed(browser.jar, authorizeUrl)
  return verdict ?? new Fault(`after the login the login comes again: ${endOf(arrival)}`, {
    fix:
      'See whether `currentUser` reads this session and returns its user, whether all processes share the sessions ' +
      'and the secret of cookies, and whether something in front takes the Cookie header away.'
  })
}

/** The fault of a cookie that a person gave, and that browsers do not send to the endpoint. */
function notSent (cookies: Cookie[], authorizeUrl: URL): Fault | null {
  const [cookie] = cookies
  if (cookie === undefined || new CookieJar(cookies).header(authorizeUrl) !== '') return null
  const { name, path, secure } = cookie
  return new Fault(
    `the cookie ${name} is not sent to ${authorizeUrl.origin}${authorizeUrl.pathname}: it has Path=${path ?? '/'}` +
    `${secure ? ' and Secure' : ''}`,
    { rule: 'login.cookie' }
  )
}

/** The fault of two cookies with one name: the app reads the first, which is a guest’s. */
function shadowed (jar: CookieJar, authorizeUrl: URL): Fault | null {
  const names = jar.header(authorizeUrl).split('; ').map((pair) => pair.replace(/=.*/, ''))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice === undefined) return null
  const paths = jar.all().filter(({ name }) => name === twice).map(({ path, domain }) => `Path=${path} at ${domain}`)
  return new Fault(`after the login there are two cookies ${twice}: ${paths.join(', ')}; the app reads the first`, {
    rule: 'login.cookie',
    fix: 'Set the cookie of guests with the same Path and Domain as that of users, so that the login replaces it.'
  })
}

/** Where the user arrives who may not enter. */
async function ofIneligible (subject: Subject): Promise<Or<Arrival>> {
  if (subject.options.refused !== undefined) return subject.options.refused
  const session = await subject.entered(INELIGIBLE)
  if (isVerdict(session)) return session
  const { arrival } = session
  return await subject.isAtLogin(arrival)
    ? new Untested('it needs a user who is logged in and may not enter: this one gets the login again')
    : arrival
}

async function accessIsDenied (subject: Subject): Promise<Verdict> {
  const arrival = await ofIneligible(subject)
  if (isVerdict(arrival)) return arrival
  const { at, exchange, target } = arrival
  if (codeOf(arrival) !== null) return new Fault('a code, for the user who may not enter')
  if (at === 'callback') {
    return target?.searchParams.get('error') === 'access_denied'
      ? null
      : new Fault(describe(exchange), { exchange, fix: FIXES.current_user_failed })
  }
  // `portalEligibility` may send a page of its own, or lead to one.
  const isPage = isHtml(exchange) && statusOf(exchange) < 500
  return isPage || at === 'elsewhere' ? null : new Fault(endOf(arrival))
}
