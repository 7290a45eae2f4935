import type { Arrival } from '../flow/browser.ts'
import { Browser, codeOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { CookieJar } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { User } from '../flow/user.ts'
import { logIn } from '../flow/user.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, headerValues, statusOf } from '../flow/wire.ts'
import { Stop, Untested } from './rule.ts'
import type { Subject } from './subject.ts'
import { hasCode } from './voice.ts'

/** A user who was sent to the authorization endpoint and, where that is how it goes, logged in. */
export interface Session {
  user: User
  browser: Browser
  /** Where the browser was before the login. */
  first: Arrival
  /** Where each request of the login arrived. Empty without a login. */
  steps: Arrival[]
  /** Cookies that the login set. */
  set: Cookie[]
  /** The session ends with a sign-in. */
  isSpent: boolean
  /** Where an authorization request arrives then: with a code where any has one. */
  arrival: Arrival
}

/** Requests until it is certain that nobody is logged in: each may reach another process. */
const TRIES = 4

export async function enter (subject: Subject, user: User): Promise<Session> {
  const browser = subject.browserOf(user)
  // Random, and of the characters that a random text may have: a login that decodes it twice changes it.
  const first = await subject.authorize(browser, { state: `${crypto.randomUUID()}+/=~` })
  const before = browser.jar.all()
  const steps =
    first.at === 'page' && user.login !== undefined
      ? await logIn(browser, first, user.login).catch(cannotLogIn)
      : []
  const set = cookiesIn(browser).filter((cookie) => !before.includes(cookie))
  let arrival = first
  const isDone = (): boolean => arrival.at === 'callback' || codeOf(arrival) !== null
  for (let tries = 1; tries < TRIES && !isDone(); tries++) {
    arrival = await subject.authorize(browser)
  }
  for (const { value } of browser.jar.all()) subject.secrets.add(value)
  const isSpent =
    [...steps, arrival].some((one) => codeOf(one) !== null && clearsCookie(one, browser)) &&
    codeOf(await subject.authorize(browser)) === null
  return { user, browser, first, steps, set, isSpent, arrival }
}

/** Whether a cookie of the app was set or removed on the way, and is not there now. */
const clearsCookie = ({ hops }: Arrival, browser: Browser): boolean =>
  hops
    .flatMap(({ response }) => headerValues(response, 'set-cookie'))
    .map((line) => line.split('=')[0] as string)
    .some((name) => isOfApp({ name }) && !browser.jar.all().some((cookie) => cookie.name === name))

/** The authorization request that the login leads back to. */
export const backOf = ({ integration: { authorizeUrl } }: Subject, { steps }: Session): Exchange | undefined =>
  steps
    .flatMap(({ hops }) => hops)
    .find(({ request: { method, url } }) => method === 'GET' && url.startsWith(authorizeUrl))

function cannotLogIn (error: unknown): never {
  if (!(error instanceof TypeError)) throw error
  throw new Stop(
    `The login cannot be done from here: ${error.message}. Give the session of a user instead: a cookie or a header.`
  )
}

/** The cookies of the app, one of which may be the session. */
export const cookiesIn = ({ jar }: Browser): Cookie[] => jar.all().filter(isOfApp)

const isOfApp = ({ name }: Pick<Cookie, 'name'>): boolean => !/partner-sso-return$/.test(name)

/** Whether a browser with these cookies and headers gets a code. */
export async function isIssued (
  subject: Subject,
  cookies: Cookie[],
  headers: User['headers'] = {}
): Promise<boolean> {
  const browser = new Browser(subject.integration, new CookieJar(cookies), Object.entries(headers))
  return hasCode(await subject.ask(browser))
}

/** Where a browser ended, in words. */
export function endOf ({ at, exchange, url }: Arrival): string {
  const seen = `${describe(exchange).replace(/\?[^\s”)]*/, '')} at ${new URL(url).pathname}`
  return at === 'loop' ? `redirects that do not end, the last ${seen}` : seen
}

/** The login page of the app. @throws Untested where it has none of its own */
export async function loginPage (subject: Subject): Promise<Arrival> {
  const { arrival } = await subject.nobody()
  const isPage = arrival.at === 'page' && statusOf(arrival.exchange) < 400
  if (!isPage) throw new Untested('the app has no login page of its own')
  return arrival
}

export const isHtml = ({ response }: Exchange): boolean => /html/.test(header(response, 'content-type'))

/** Whether a browser ended where that of nobody ends: at the login. */
export async function isAtLogin (subject: Subject, arrival: Arrival): Promise<boolean> {
  const nobody = await subject.nobody()
  return placeOf(arrival) === placeOf(nobody.arrival)
}

function placeOf (arrival: Arrival): string {
  const { origin, pathname } = arrival.target ?? new URL(arrival.url)
  return `${statusOf(arrival.exchange)} ${origin}${pathname}`
}
