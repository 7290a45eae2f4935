import type { Arrival } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import { CookieJar } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { endOf, isAtLogin, isHtml, stateOf } from './session.ts'
import type { Subject } from './subject.ts'
import { INELIGIBLE } from './subject.ts'
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

/** @throws Failed where the plugin refuses for one of these reasons */
function expectNoRefusal (exchange: Exchange) {
  // Of several reasons that share a sentence, the first one names them.
  const fix = FIXES[String(reasonsOf(exchange)[0])]
  expect(fix === undefined, describe(exchange), { exchange, fix })
}

/**
 * Who gets in? The first rule comes before the login: with a `currentUser` that throws or finds a
 * user for a browser without a session there is no login page.
 */
export const WHO: readonly Rule[] = [
  {
    id: 'authorize.login-needed',
    sentence: 'A browser without a session is that of nobody: it gets no code, and a login.',
    fix: 'Let `currentUser` return null where nobody is logged in.',
    isGate: true,
    async test (subject) {
      const arrival = await subject.nobody()
      expect(codeOf(arrival) === null, 'a code, without any session')
      expectNoRefusal(arrival.exchange)
    }
  },
  {
    id: 'authorize.code',
    sentence:
      'A browser whose user is logged in is redirected to the redirect_uri with a code and the state.',
    fix: 'Try the sign-in in a browser: fastify-partner-sso serve shows every step.',
    isGate: true,
    test: codeIsIssued
  },
  {
    id: 'authorize.access-denied',
    sentence:
      'A user who may not enter gets no code, but is sent back to the portal with access_denied, or gets a page that ' +
      'says why.',
    fix: 'Return null from `portalEligibility` for a user who may not enter, or send a page.',
    test: accessDenied
  }
]

/** The redirect of the logged-in user, compared with what the plugin sends. */
async function codeIsIssued (subject: Subject) {
  if (subject.options.users.length === 0) throw nobodyIn(await subject.nobody())
  const session = await subject.entered()
  const { arrival } = session
  if (codeOf(arrival) === null) throw await whyNoCode(subject, session)
  const { redirectUri } = subject.integration
  const { href, searchParams } = arrival.target as URL
  const added = searchParams.size - new URL(redirectUri).searchParams.size
  const isSame = arrival.at === 'callback' && added === 2 && searchParams.get('state') === stateOf(arrival.exchange)
  expect(isSame, `for the redirect_uri ${redirectUri} the code is sent to ${href}, or not with the right state`, {
    fix: 'A proxy (nginx: proxy_redirect) or an onSend hook rewrites the Location or the query: leave them as they are.'
  })
}

const nobodyIn = (arrival: Arrival) => new Untested(
  `Nobody is logged in (${endOf(arrival)}): give all fields of the login of a user who may enter, or a cookie or ` +
    'header that has not expired.'
)

async function whyNoCode (subject: Subject, session: Session) {
  const { exchange, url } = session.arrival
  expectNoRefusal(exchange)
  const became = becameOf(exchange, 'authorize.code')
  if (became !== null) return became
  if (await isAtLogin(subject, session.arrival)) return whyNobody(subject, session)
  const isRefused = statusOf(exchange) >= 400 && url.startsWith(subject.integration.authorizeUrl)
  return isRefused
    ? notThePlugin(exchange)
    : new Failed(`after the login the browser is not sent to the portal: ${endOf(session.arrival)}`)
}

/** Why a user gets the login again. */
function whyNobody (subject: Subject, { steps, browser, set, arrival }: Session) {
  const last = steps.at(-1)
  if (last === undefined) return nobodyIn(arrival)
  const [refused] = browser.jar.refused
  expect(refused === undefined, `browsers do not keep the cookie ${refused?.join(': ')}`, { rule: 'login.cookie' })
  const isBroken = [404, 405, 500].includes(statusOf(last.exchange))
  expect(!isBroken, `the form of the login leads to ${endOf(last)}`, {
    rule: 'login.page',
    fix: 'Give the form the address of the login; where the login itself fails, see the log of the app.'
  })
  const { authorizeUrl } = subject.integration
  const isLedBack = steps.some(({ hops }) => hops.some(({ request }) => request.url.startsWith(authorizeUrl)))
  if (!isLedBack) return nobodyIn(last)
  const sent = new CookieJar(set).header(new URL(authorizeUrl))
  expect(sent !== '', 'no cookie of the login is left for /oauth/authorize', { rule: 'login.cookie' })
  return new Failed(`after the login the login comes again: ${endOf(arrival)}`, {
    fix:
      'See whether `currentUser` reads this session and returns its user, whether all processes share the sessions ' +
      'and the secret of cookies, and whether something in front takes the Cookie header away.'
  })
}

/** Where the user arrives who may not enter. */
async function ofIneligible (subject: Subject) {
  const arrival = subject.options.refused ?? (await subject.entered(INELIGIBLE)).arrival
  if (arrival.at !== 'callback' && (await isAtLogin(subject, arrival))) {
    throw new Untested('it needs a user who is logged in and may not enter: this one gets the login again')
  }
  return arrival
}

async function accessDenied (subject: Subject) {
  const arrival = await ofIneligible(subject)
  const { exchange } = arrival
  expect(codeOf(arrival) === null, 'a code, for the user who may not enter')
  if (arrival.at === 'callback') {
    const error = arrival.target?.searchParams.get('error')
    return expect(error === 'access_denied', describe(exchange), { exchange, fix: FIXES.current_user_failed })
  }
  // `portalEligibility` may send a page of its own, or lead to one.
  const isPage = isHtml(exchange) && statusOf(exchange) < 500
  expect(isPage || arrival.at === 'elsewhere', endOf(arrival))
}
