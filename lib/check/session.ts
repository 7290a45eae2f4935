import type { Arrival } from '../flow/browser.ts'
import { Browser, codeOf, targetOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { CookieJar } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { User } from '../flow/user.ts'
import { logIn } from '../flow/user.ts'
import { statusOf } from '../flow/wire.ts'
import { Stop } from './rule.ts'
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
  /** Cookies that the login set or changed. */
  set: Cookie[]
  /** Where an authorization request arrives then: with a code where any has one. */
  arrival: Arrival
}

/** Requests until it is certain that nobody is logged in: each may reach another process. */
const TRIES = 4

export async function enter (subject: Subject, user: User): Promise<Session> {
  const browser = subject.browserOf(user)
  // Random, and of the characters that a random text may have: a login that decodes it twice changes it.
  const first = await subject.authorize(browser, { state: `${crypto.randomUUID()}+/=~` })
  const before = cookiesIn(browser).map(({ name, value }) => name + value)
  const { login } = user
  const steps = first.at === 'page' && login !== undefined
    ? await logIn(browser, first, login).catch(cannotLogIn)
    : []
  const set = cookiesIn(browser).filter(({ name, value }) => !before.includes(name + value))
  let arrival = steps.length === 0 ? first : await subject.authorize(browser)
  for (let tries = 1; tries < TRIES && arrival.at !== 'callback' && codeOf(arrival) === null; tries++) {
    arrival = await subject.authorize(browser)
  }
  const codes = steps.map((step) => String(codeOf(step)))
  for (const secret of [...codes, ...browser.jar.all().map(({ value }) => value)]) subject.secrets.add(secret)
  return { user, browser, first, steps, set, arrival }
}

function cannotLogIn (error: unknown): never {
  if (!(error instanceof TypeError)) throw error
  throw new Stop(
    `The login cannot be done from here: ${error.message}. Give the session of a user instead: a cookie or a header.`
  )
}

/** The cookies of the app, one of which may be the session. */
export const cookiesIn = ({ jar }: Browser): Cookie[] =>
  jar.all().filter(({ name }) => !/partner-sso-return$/.test(name))

/** Whether a browser with these cookies and headers gets a code. */
export async function isIssued (subject: Subject, cookies: Cookie[], headers: User['headers'] = {}): Promise<boolean> {
  const browser = new Browser(subject.integration, new CookieJar(cookies), Object.entries(headers))
  return hasCode(await subject.ask(browser))
}

/** Where a browser ended, in words. */
export const endOf = ({ at, exchange, url }: Arrival): string =>
  `${at === 'loop' ? 'redirects that do not end, the last ' : ''}${describe(exchange).replace(/\?\S*/, '')} at ` +
  new URL(url).pathname

/** Whether a browser ended where that of nobody ends: at the login. */
export async function isAtLogin (subject: Subject, arrival: Arrival): Promise<boolean> {
  const { arrival: ofNobody } = await subject.nobody()
  const [one, other] = [arrival, ofNobody].map((end) => {
    const [address] = (targetOf(end) ?? end.url).split('?')
    return `${end.at} ${statusOf(end.exchange)} ${address}`
  })
  return one === other
}
