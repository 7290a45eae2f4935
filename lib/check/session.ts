import type { Arrival, Browser } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import type { User } from '../flow/user.ts'
import { logIn } from '../flow/user.ts'
import { Stop } from './rule.ts'
import type { Subject } from './subject.ts'

/** A user who was sent to the authorization endpoint and, where that is how it goes, logged in. */
export interface Session {
  user: User
  browser: Browser
  /** Where the browser was before the login. */
  first: Arrival
  /** Where each request of the login arrived. Empty without a login. */
  steps: Arrival[]
  /** The address of the authorization request that the login should lead back to. */
  url: string
  /** Where the login itself led back to the portal. */
  back: Arrival | null
  /** The authorization requests after the login: several where the first one asks for a login again. */
  tries: Arrival[]
  /** Cookies that the login set or changed. */
  set: Cookie[]
}

/** Requests until it is certain that nobody is logged in: each may reach another process. */
const TRIES = 4

/** Random, and of the characters that a random text may have. A login that decodes it twice changes it. */
const stateOfLogin = (): string => `${crypto.randomUUID().replaceAll('-', '')}+/=~`

export async function enter (subject: Subject, user: User): Promise<Session> {
  const browser = subject.browserOf(user)
  const url = subject.authorizeUrl({ state: stateOfLogin() })
  const first = await browser.open(url)
  const before = browser.jar.all()
  const steps =
    first.at === 'page' && user.login !== undefined ? await loggedIn(browser, first, user.login) : []
  const back = steps.find(({ at }) => at === 'callback') ?? null
  const tries = steps.length === 0 ? [first] : []
  while (tries.length < TRIES && !tries.some(isPortal)) tries.push(await subject.authorize(browser))
  const set = browser.jar
    .all()
    .filter(
      ({ name, value }) =>
        !/partner-sso-return$/.test(name) &&
        !before.some((other) => other.name === name && other.value === value)
    )
  for (const { value } of browser.jar.all()) subject.secrets.add(value)
  for (const arrival of [first, ...steps, ...tries]) subject.secrets.add(codeOf(arrival) ?? '')
  return { user, browser, first, steps, url, back, tries, set }
}

async function loggedIn (
  browser: Browser,
  page: Arrival,
  login: NonNullable<User['login']>
): Promise<Arrival[]> {
  try {
    return await logIn(browser, page, login)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Stop(
      `The login cannot be done from here: ${error.message}. Give the session of a user instead: ` +
        'a cookie or a header.'
    )
  }
}

/** Whether a browser was sent away from the login, to the portal or to what should be the portal. */
const isPortal = (arrival: Arrival): boolean =>
  arrival.at === 'callback' || codeOf(arrival) !== null

/** The last try: it has a code, where any has one. */
export const lastTry = ({ tries }: Session): Arrival => tries.at(-1) as Arrival

/** Whether a request of a logged-in browser is sometimes answered with the login, and sometimes not. */
export const isMixed = ({ tries }: Session): boolean =>
  codeOf(tries.at(-1) as Arrival) !== null && tries.length > 1
