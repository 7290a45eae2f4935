import type { Arrival } from './browser.ts'
import { Browser } from './browser.ts'
import { CookieJar, parseGiven } from './cookies.ts'
import type { Integration } from './integration.ts'
import type { Form } from './login-form.ts'
import { formWith } from './login-form.ts'
import type { WireResponse } from './wire.ts'
import { statusOf } from './wire.ts'

/** Names and values of a form. */
export type Fields = Record<string, string>

/**
 * What identifies the user to the partner's application. Cookies, headers and login can be
 * combined.
 */
export interface User {
  /** The session cookie or cookies: `sid=abc; theme=dark`, or names and values. */
  cookies?: string | Record<string, string>
  /** Headers that identify the user, sent with every browser request to the application. */
  headers?: Record<string, string>
  /**
   * Logs the user in through the application's own login page, as a person would: the fields to
   * fill in, or a function. It is used once, when the browser ended on a page and not at the portal.
   * What the function throws rejects the call.
   *
   * @example
   * login: { user: 'ada', password: 'secret' }   // in the form of the page, hidden fields kept
   * login: (page) => page.post({ user: 'ada' }, '/api/login')
   */
  login?: Fields | ((page: LoginPage) => unknown)
}

/** The page on which the browser is while nobody is logged in. */
export interface LoginPage {
  /** Address of the page, with its query (`?return_to=…`). */
  url: string
  status: number
  body: string
  /**
   * Sends a form as the user would, with the browser's cookies, and follows redirects.
   *
   * @param fields - the names and values of the form
   * @param url - relative to this page; default: this page's own address
   * @returns the last response; undefined when there is none
   * @throws TypeError when the address is of another origin: no cookie leaves the application
   */
  post(fields: Fields, url?: string): Promise<WireResponse | undefined>
  /** Opens an address (relative to this page) in the same way. */
  get(url: string): Promise<WireResponse | undefined>
}

/** Pages of one login, such as one for the name and one for the password. */
const MOST_PAGES = 3

/** A browser with what the user has before the login. */
export function browserOf (
  integration: Integration, { cookies = '', headers = {} }: User = {}
): Browser {
  const given = typeof cookies === 'string'
    ? parseGiven(cookies)
    : Object.entries(cookies).map(([name, value]) => ({ name, value, secure: false, httpOnly: false, expired: false }))
  return new Browser(integration, new CookieJar(given), Object.entries(headers))
}

/**
 * Logs the user in, where the browser is on a page. Returns where each request arrived; none
 * without a login.
 */
export async function logIn (
  browser: Browser,
  page: Arrival,
  login: User['login']
): Promise<Arrival[]> {
  if (page.at !== 'page' || login === undefined) return []
  if (typeof login !== 'function') return fillIn(browser, page, login)
  const arrivals: Arrival[] = []
  const visit = async (url: string, form?: string) => {
    const arrival = await browser.open(new URL(url, page.url).href, form)
    arrivals.push(arrival)
    return arrival.exchange.response
  }
  await login({
    url: page.url,
    status: statusOf(page.exchange),
    body: bodyOf(page),
    post: (fields, url = page.url) =>
      visit(url, new URLSearchParams(fields).toString()),
    get: (url) => visit(url)
  })
  return arrivals
}

/** Fills in the form of the page, and of the next pages as long as they ask for other fields. */
async function fillIn (
  browser: Browser,
  page: Arrival,
  given: Fields
): Promise<Arrival[]> {
  const arrivals: Arrival[] = []
  const left = { ...given }
  for (let at = page; at.at === 'page' && arrivals.length < MOST_PAGES; arrivals.push(at)) {
    const form = formWith(bodyOf(at), given)
    if (form === undefined) break
    const names = Object.keys(left)
    const asked = names.filter((name) => name in form.fields)
    // Without any of them in the first form, a script may add them.
    const sent = asked.length > 0 || arrivals.length > 0 ? asked : names
    if (sent.length === 0) break
    for (const name of sent) {
      form.fields[name] = String(left[name])
      delete left[name]
    }
    at = await send(browser, at, form)
  }
  return arrivals
}

/** The form of another site gets nothing: the browser leaves the application, as by a redirect. */
async function send (browser: Browser, page: Arrival, form: Form): Promise<Arrival> {
  const url = new URL(form.action || page.url, page.url)
  if (url.origin !== new URL(page.url).origin) return { ...page, at: 'elsewhere', target: url, hops: [] }
  const fields = new URLSearchParams(form.fields).toString()
  if (form.method === 'POST') return browser.open(url.href, fields)
  url.search = fields
  return browser.open(url.href)
}

const bodyOf = ({ exchange }: Arrival): string =>
  String(exchange.response?.body)
