import type { Arrival, Posted } from './browser.ts'
import { Browser, formPosted } from './browser.ts'
import { CookieJar, parseGiven } from './cookies.ts'
import { textsOf } from './html.ts'
import type { Integration } from './integration.ts'
import type { Fields, Form } from './login-form.ts'
import { filledIn, formsOf, loginFormOf } from './login-form.ts'
import { withoutTyped } from './typed.ts'
import type { WireResponse } from './wire.ts'
import { statusOf } from './wire.ts'

export type { Fields }

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
   * Logs the user in through the application's own login page, as a person would: the fields of its
   * form, or a function. The form is the first one that is sent by POST and has one of these fields;
   * its other fields, hidden ones included, are sent as the page has them. A form that is sent by
   * GET, or by a script, is not filled in: for a login by an API give a function. The login is used
   * once, when the browser ended on a page and not at the portal. What the function throws rejects
   * the call.
   *
   * @example
   * login: { user: 'ada', password: 'secret' }
   * login: (page) => page.post({ user: 'ada' }, '/api/login', { json: true })
   */
  login?: Fields | ((page: LoginPage) => unknown)
}

/** How {@link LoginPage.post} sends the fields. */
export interface PostOptions {
  /** As a JSON object instead of a form. Default false. */
  json?: boolean
  /** Headers that the script of the page would send: `{ 'x-csrf-token': … }`. */
  headers?: Record<string, string>
}

/** The page on which the browser is while nobody is logged in. */
export interface LoginPage {
  /** Address of the page, with its query (`?return_to=…`). */
  url: string
  status: number
  body: string
  /**
   * Sends fields as the page would, with the browser's cookies, and follows redirects.
   *
   * @param fields - names and values. A form has a field for each value of a list
   * @param url - relative to this page; default: this page's own address
   * @returns the last response; undefined when there is none
   * @throws TypeError when the address is of another origin: no cookie leaves the application
   *
   * @example
   * page.post({ user: 'ada', password: 'secret' })                                  // a form
   * page.post({ user: 'ada', password: 'secret' }, '/api/login', { json: true })    // an API
   */
  post(fields: Record<string, unknown>, url?: string, options?: PostOptions): Promise<WireResponse | undefined>
  /** Opens an address (relative to this page) in the same way. */
  get(url: string): Promise<WireResponse | undefined>
}

/** Pages of one login, such as one for the name and one for the password. */
const MOST_PAGES = 3
/** Characters of a page's own text that are quoted. */
const LONGEST_QUOTE = 160

/** A browser with what the user has before the login. */
export function browserOf (
  integration: Integration, { cookies = '', headers = {} }: User = {}, typed?: Set<string>
): Browser {
  const given = typeof cookies === 'string'
    ? parseGiven(cookies)
    : Object.entries(cookies).map(([name, value]) => ({ name, value, secure: false, httpOnly: false, expired: false }))
  return new Browser(integration, new CookieJar(given), Object.entries(headers), typed)
}

/**
 * Logs the user in, where the browser is on a page. What was typed is sent by POST, to the
 * application's own origin, and nowhere else.
 *
 * @returns where each request arrived; empty without a login, and where no form was filled in
 */
export async function logIn (
  browser: Browser,
  page: Arrival,
  login: User['login']
): Promise<Arrival[]> {
  if (page.at !== 'page' || login === undefined) return []
  if (typeof login !== 'function') return fillIn(browser, page, login)
  const arrivals: Arrival[] = []
  const visit = async (url: string, posted?: Posted) => {
    const arrival = await browser.open(new URL(url, page.url).href, posted)
    arrivals.push(arrival)
    return arrival.exchange.response
  }
  await login({
    url: page.url,
    status: statusOf(page.exchange),
    body: bodyOf(page),
    post (fields, url = page.url, options = {}) {
      for (const text of textsIn(fields)) browser.typed.add(text)
      return visit(url, postedBy(fields, options))
    },
    get: (url) => visit(url)
  })
  return arrivals
}

/** The texts and numbers among the values of fields, also of those that are objects. */
export function textsIn (fields: unknown): string[] {
  if (typeof fields === 'object' && fields !== null) return Object.values(fields).flatMap(textsIn)
  return typeof fields === 'string' || typeof fields === 'number' ? [String(fields)] : []
}

/** Fields as a page or its script sends them. */
function postedBy (fields: Record<string, unknown>, { json = false, headers = {} }: PostOptions): Posted {
  const own = Object.entries(headers)
  if (json) {
    return { type: 'application/json', body: JSON.stringify(fields), headers: [['Accept', 'application/json'], ...own] }
  }
  const pairs = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]))
  return { ...formPosted(pairs), headers: own }
}

/** Fills in the form of the page, and of the next pages as long as they ask for other fields. */
async function fillIn (
  browser: Browser,
  page: Arrival,
  given: Fields
): Promise<Arrival[]> {
  const arrivals: Arrival[] = []
  let left = Object.keys(given)
  for (let at = page; at.at === 'page' && arrivals.length < MOST_PAGES; arrivals.push(at)) {
    const form = loginFormOf(bodyOf(at), left)
    if (form === undefined) break
    const asked = left.filter((name) => hasField(form, name))
    left = left.filter((name) => !asked.includes(name))
    const fields = Object.fromEntries(asked.map((name) => [name, given[name] as string]))
    for (const text of textsIn(fields)) browser.typed.add(text)
    at = await send(browser, at, form, fields)
  }
  return arrivals
}

const hasField = ({ controls }: Form, name: string): boolean =>
  controls.some((control) => control.name === name)

/** The form of another site gets nothing: the browser leaves the application, as by a redirect. */
async function send (browser: Browser, page: Arrival, form: Form, given: Fields): Promise<Arrival> {
  const url = new URL(form.action || page.url, page.url)
  if (url.origin !== new URL(page.url).origin) return { ...page, at: 'elsewhere', target: url, hops: [] }
  return browser.open(url.href, formPosted(filledIn(form, given)))
}

/**
 * Why nobody is logged in after a login by its fields, as far as its pages show: a form that cannot
 * be filled in, other names of fields, a next page that asks for more, or what the login itself says.
 *
 * @param browser - knows what was typed
 * @param page - where the login began
 * @param steps - where it arrived, as {@link logIn} returned it
 * @returns one sentence, without anything that was typed; null where the pages do not show it
 */
export function whyNotLoggedIn (
  { typed }: Browser, page: Arrival, login: User['login'], steps: readonly Arrival[]
): string | null {
  if (page.at !== 'page' || login === undefined) return null
  const said = saidSince(page, steps.at(-1), typed)
  if (typeof login === 'function') return said
  const names = Object.keys(login)
  const more = asksForMore(page, steps.at(-1), names)
  if (more !== null) return more
  const forms = [page, ...steps].flatMap((arrival) => formsOf(bodyOf(arrival)))
  const unknown = names.filter((name) => !forms.some((form) => hasField(form, name)))
  if (steps.length === 0) return whyNotFilledIn(page, forms, unknown)
  const missing = unknown.length === 0 ? null : `The form has no field named ${unknown.join(' or ')}${fieldsOf(forms)}.`
  return [said, missing].filter(Boolean).join(' ') || null
}

const OTHER_WAY =
  'Log in by other means, and give the session cookie: --cookie, or `cookies` in tests, where a login can also be a ' +
  'function.'

/** Why no form of a page was filled in. */
function whyNotFilledIn ({ url }: Arrival, forms: readonly Form[], unknown: readonly string[]): string {
  const { pathname } = new URL(url)
  if (forms.length === 0) {
    return `The page ${pathname} has no form: a script makes it, or the login is elsewhere. ${OTHER_WAY}`
  }
  const posted = forms.filter(({ method }) => method === 'POST')
  if (posted.length === 0) {
    return `The form of ${pathname} is not sent by POST: in a URL, what is typed would stand in logs. ${OTHER_WAY}`
  }
  const plain = posted.filter(({ isSpecial }) => !isSpecial)
  if (plain.length === 0) return `A script sends the form of ${pathname}. ${OTHER_WAY}`
  return `No form of ${pathname} has a field named ${unknown.join(' or ')}${fieldsOf(plain)}. ${OTHER_WAY}`
}

/** What a next page asks for that was not given, such as a second factor; null where it asks for nothing new. */
function asksForMore (page: Arrival, last: Arrival | undefined, given: readonly string[]): string | null {
  if (last?.at !== 'page' || statusOf(last.exchange) >= 400) return null
  const asked = namesIn(formsOf(bodyOf(last)).filter(({ method }) => method === 'POST'))
  const known = [...given, ...namesIn(formsOf(bodyOf(page)))]
  if (asked.length === 0 || asked.some((name) => known.includes(name))) return null
  return `The login leads to ${new URL(last.url).pathname}, which asks for ${asked.join(', ')}. If that belongs to ` +
    `the login, give it as well; a code that is new each time cannot be given. ${OTHER_WAY}`
}

/** The names of the fields that forms have, in words. */
function fieldsOf (forms: readonly Form[]): string {
  const names = namesIn(forms)
  return names.length === 0 ? '' : `; it has ${names.join(', ')}`
}

/** The names of the fields that a person fills in. */
function namesIn (forms: readonly Form[]): string[] {
  const names = forms.flatMap(({ controls }) => controls)
    .filter(({ kind, name }) => name !== '' && !['hidden', 'button'].includes(kind))
    .map(({ name }) => name)
  return [...new Set(names)]
}

/** What a login shows again says now that its page did not say before: most often its error. */
function saidSince (page: Arrival, last: Arrival | undefined, typed: ReadonlySet<string>): string | null {
  if (last?.at !== 'page') return null
  const isShownAgain = formsOf(bodyOf(last)).length > 0 || statusOf(last.exchange) >= 400
  const before = textsOf(bodyOf(page))
  const added = textsOf(bodyOf(last)).filter((text) => !before.includes(text)).join(' ')
  if (!isShownAgain || added === '') return null
  const hidden = withoutTyped(added, typed)
  const quote = hidden.length > LONGEST_QUOTE ? `${hidden.slice(0, LONGEST_QUOTE)}…` : hidden
  return `The login says: “${quote}”.`
}

const bodyOf = ({ exchange }: Arrival): string =>
  String(exchange.response?.body)
