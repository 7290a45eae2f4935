import { type Arrival } from '../../../testing/browser.ts'
import { type Cookie } from '../../../testing/cookies.ts'
import { statusOf } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { Stop } from './untested.ts'

/** OAuth errors that say who the user is not, or may not do. */
const REFUSALS = ['access_denied', 'login_required']

/**
 * Says why the user's browser gets no code where the service treats the user as unknown or as not eligible: then the
 * service may be correct, and there is nobody to check it with.
 *
 * @throws Stop with one sentence
 */
export async function stopWithoutUser (bench: Bench, arrival: Arrival): Promise<void> {
  const anonymous = await bench.loginPage()
  const unknown = alike(arrival, anonymous)
  if (!asksForUser(arrival, bench, unknown)) return
  const got = `${bench.told(arrival.exchange)} at ${new URL(arrival.url).pathname}`
  if (!unknown) throw new Stop(`The service refuses this user (${got}): make a user known who may enter the portal.`)
  const { cookies, headers } = bench.settings.user
  const noPage = anonymous.at === 'callback' ? NO_LOGIN_PAGE : ''
  if (cookies.length > 0 || headers.length > 0) throw new Stop(`${sentButUnknown(bench)} (${got})${noPage}`)
  const how = 'make a user known with --cookie, --header or --login-command'
  throw new Stop(`Nobody is logged in (${got}): ${how}${noPage}`)
}

const NO_LOGIN_PAGE = '. The service has no login page either: the plugin’s option loginPage names one.'

/** A login page, a refusal, a way out of the application; or an error that an unknown user gets as well. */
function asksForUser (arrival: Arrival, { portal }: Bench, unknown: boolean): boolean {
  if (arrival.at === 'loop') return unknown
  if (arrival.at === 'elsewhere') return !arrival.location.startsWith(new URL(portal.redirectUri).origin)
  if (arrival.at === 'callback') {
    return REFUSALS.includes(String(new URL(arrival.callbackUrl).searchParams.get('error')))
  }
  const status = statusOf(arrival.exchange)
  if (status < 300 || status === 401 || status === 403) return true
  return unknown && arrival.url.split('?')[0] !== portal.authorizeUrl
}

/** Whether two browsers ended in the same place, their own state apart. */
export function alike (one: Arrival, other: Arrival): boolean {
  return placeOf(one) === placeOf(other)
}

function placeOf (arrival: Arrival): string {
  if (arrival.at === 'callback') {
    const { searchParams } = new URL(arrival.callbackUrl)
    return JSON.stringify([searchParams.get('error'), searchParams.get('error_description')])
  }
  const { origin, pathname } = new URL(arrival.at === 'elsewhere' ? arrival.location : arrival.url)
  return JSON.stringify([arrival.at, statusOf(arrival.exchange), origin, pathname])
}

/** What was sent, and the most likely reason why it identifies nobody. */
function sentButUnknown (bench: Bench): string {
  const { cookies, headers } = bench.settings.user
  if (cookies.length === 0) {
    const names = headers.map(([name]) => name).join(', ')
    return `The header ${names} was sent and logs nobody in; is it the one that the application reads?`
  }
  const names = cookies.map(({ name }) => name).join(', ')
  const address = new URL(bench.portal.authorizeUrl)
  const sent = cookies.filter((cookie) =>
    bench.browserOf({ cookies: [cookie], headers: [] }).jar.header(address) !== '')
  if (sent.length === 0) return `The cookie ${names} was not sent: its Path or Secure does not fit ${address.origin}`
  return `The cookie ${names} was sent and logs nobody in: ${reasonOf(bench, cookies)}`
}

function reasonOf ({ anonymous }: Bench, cookies: Cookie[]): string {
  const empty = cookies.find(({ value }) => value === '')
  if (empty !== undefined) return `${empty.name} has no value; is there no = in it?`
  const known = cookies.map(({ name }) => name)
  const others = anonymous.jar.all().map(({ name }) => name).filter((name) => !known.includes(name))
  const hint = others.length === 0 ? '' : `; the service itself sets ${others.join(', ')}`
  return `has it expired, is its name another one, or is its value not signed${hint}?`
}
