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
  integration: Pick<Integration, 'base' | 'redirectUri' | 'send'>,
  { cookies = {}, headers = {} }: User = {}
): Browser {
  const given = typeof cookies === 'string'
    ? parseGiven(cookies)
    : Object.entries(cookies).map(([name, value]) => ({ name, value, secure: false }))
  return new Browser(integration, new CookieJar(given), Object.entries(headers))
}

/** Logs the user in, from the page on which the browser is. Returns where each request arrived. */
export async function logIn (
  browser: Browser, page: Arrival, login: NonNullable<User['login']>
): Promise<Arrival[]> {
  if (typeof login !== 'function') return fillIn(browser, page, login)
  const arrivals: Arrival[] = []
  const visit = async (url: string, method: string, body?: string) => {
    const arrival = await browser.open(new URL(url, page.url).href, method, body)
    arrivals.push(arrival)
    return arrival.exchange.response
  }
  await login({
    url: page.url,
    status: statusOf(page.exchange),
    body: bodyOf(page),
    post: (fields, url = page.url) => visit(url, 'POST', new URLSearchParams(fields).toString()),
    get: (url) => visit(url, 'GET')
  })
  return arrivals
}

/** Fills in the form of the page, and of the next pages as long as they ask for other fields. */
async function fillIn (browser: Browser, page: Arrival, given: Fields): Promise<Arrival[]> {
  const arrivals: Arrival[] = []
  let left = Object.keys(given)
  let at = page
  while (at.at === 'page' && left.length > 0 && arrivals.length < MOST_PAGES) {
    const form = formWith(bodyOf(at), given)
    const asked = left.filter((name) => form !== undefined && name in form.fields)
    const isFirst = arrivals.length === 0
    if (form === undefined || (asked.length === 0 && !isFirst)) break
    // Without any of them in the form, a script may add them.
    const sent = asked.length > 0 ? asked : left
    const filled = Object.fromEntries(sent.map((name) => [name, String(given[name])]))
    at = await send(browser, at.url, { ...form, fields: { ...form.fields, ...filled } })
    arrivals.push(at)
    left = left.filter((name) => !sent.includes(name))
  }
  return arrivals
}

function send (browser: Browser, page: string, { action, method, fields }: Form): Promise<Arrival> {
  const url = new URL(action === '' ? page : action, page)
  const form = new URLSearchParams(fields).toString()
  if (method === 'POST') return browser.open(url.href, method, form)
  url.search = form
  return browser.open(url.href)
}

const bodyOf = ({ exchange }: Arrival): string => String(exchange.response?.body)
