import type { Arrival, Browser } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { Changes } from '../flow/requests.ts'
import type { User } from '../flow/user.ts'
import { logIn } from '../flow/user.ts'
import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'

/** A user who was sent to the authorization endpoint and, where that is how it goes, logged in. */
export interface Session {
  user: User
  browser: Browser
  /** The state of the authorization request before the login. */
  state: string
  /** Where the browser was sent to log in. */
  login: Arrival
  /** Where each request of the login arrived. Empty without a login. */
  steps: Arrival[]
  /** Cookies that the login set. */
  set: Cookie[]
  /** The session ends with a sign-in. */
  isSpent: boolean
  /** Where an authorization request arrived: with a code, or else at the portal, where any did. */
  arrival: Arrival
}

/** What a login needs of the app under test. */
interface Door {
  browserOf (user: User): Browser
  authorize (browser: Browser, changes?: Changes): Promise<Arrival>
}

/** Requests until it is certain that nobody is logged in: each may reach another process. */
const TRIES = 4

/** Logs a user in, as a sign-in does, and sends the browser to the authorization endpoint again. */
export async function enter (door: Door, user: User): Promise<Session> {
  const browser = door.browserOf(user)
  // Random, and of the characters that a random text may have: a login that decodes it twice changes it.
  const state = `${crypto.randomUUID()}+/=~`
  const first = await door.authorize(browser, { state })
  const before = browser.jar.all()
  const steps = await logIn(browser, first, user.login)
  const added = () => cookiesIn(browser).filter((cookie) => !before.includes(cookie))
  const set = added()
  let again = await door.authorize(browser)
  // A session may serve one request: then the portal heard of its user in the first one.
  const arrivals = [again, first, ...steps]
  const isKnown = () => arrivals.some((one) => codeOf(one) !== null)
  for (let tries = 2; tries < TRIES && !isKnown(); tries++) {
    again = await door.authorize(browser)
    arrivals.push(again)
  }
  const withCode = arrivals.find((one) => codeOf(one) !== null)
  const isSpent =
    withCode !== undefined &&
    added().length === 0 &&
    codeOf(await door.authorize(browser)) === null
  return {
    user,
    browser,
    state,
    login: first,
    steps,
    set,
    isSpent,
    arrival: withCode ?? arrivals.find(({ at }) => at === 'callback') ?? again
  }
}

/** The state of an authorization request. */
export const stateOf = ({ request }: Exchange) =>
  new URL(request.url).searchParams.get('state')

/** The cookies of the app, one of which may be the session. */
export const cookiesIn = ({ jar }: Browser) =>
  jar.all().filter(({ name }) => !name.endsWith('partner-sso-return'))

/** Where a browser ended, in words. */
export const endOf = ({ exchange, url }: Arrival) =>
  `${describe(exchange).replace(/\?[^\s”)]*/, '')} at ${new URL(url).pathname}`

export const isHtml = ({ response }: Exchange) => /html/.test(header(response, 'content-type'))
