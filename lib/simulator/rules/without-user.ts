import type { Arrival } from '../../flow/browser.ts'
import type { Cookie } from '../../flow/cookies.ts'
import { CookieJar } from '../../flow/cookies.ts'
import { describe } from '../../flow/failure.ts'
import { header, statusOf } from '../../flow/wire.ts'
import { Failed, Stop } from './errors.ts'
import type { Rule } from './rule.ts'
import type { Service } from './service.ts'
import { sentToPortal } from './service.ts'

const MAKE_KNOWN = 'make a user known with --cookie or --header'
const NO_LOGIN_PAGE =
  '. The service has no login page either: the plugin’s option loginPage names one.'
/** OAuth errors that concern the user: not eligible, or not logged in. */
const REFUSALS = ['access_denied', 'login_required']

/**
 * Comes before the rules on the login: behind a hook that refuses everybody there is no login page.
 * If a request without client_id is refused in the same way, a hook responded before the endpoint.
 * Behind a proxy that names the user in a header, every user has that header: without cookies the
 * check stops and no rule fails.
 */
export const AUTHORIZE_HOOK_RULE: Rule = {
  id: 'authorize.hook',
  section: 'RFC 6749 §3.1',
  severity: 'must',
  sentence:
    'No hook of the application is in front of the authorization endpoint: ' +
    'the endpoint itself finds out who the user is, and sends others to the login page.',
  fix:
    'Exempt /oauth/authorize, /oauth/token and /oauth/user from the application’s global hooks ' +
    '(login, API keys, bot protection).',
  isPrerequisite: true,
  async test (service) {
    const arrival = await service.authorize()
    if (!refusedAtOnce(service, arrival)) return
    const incomplete = await service.authorize({ client_id: undefined })
    if (!refusedAtOnce(service, incomplete) ||
      statusOf(incomplete.exchange) !== statusOf(arrival.exchange)) return
    const got = `${describe(arrival.exchange)}, also for a request without client_id`
    const { cookies, headers } = service.settings.user
    if (cookies.length > 0) throw new Failed(got)
    const names = headers.map(([name]) => name).join(', ')
    const given = names === ''
      ? MAKE_KNOWN
      : `if it reads the header ${names}, give a value that it accepts`
    throw new Stop('A hook of the application responds in front of the authorization endpoint ' +
      `(${got}): exempt ` +
      `${new URL(service.integration.authorizeUrl).pathname} from the application’s global ` +
      `hooks, and ${given}`)
  }
}

/**
 * 401 or 403 at the endpoint and no way to log in: no page, and no challenge that makes a browser
 * ask for a password.
 */
export function refusedAtOnce (
  { integration }: Service, { at, url, exchange: { response } }: Arrival
): boolean {
  const refused = response?.status === 401 || response?.status === 403
  const isPage = header(response, 'content-type').toLowerCase().startsWith('text/html')
  const asks = header(response, 'www-authenticate') !== ''
  return at === 'page' && url.split('?')[0] === integration.authorizeUrl && refused && !isPage &&
    !asks
}

/**
 * Says why the user's browser gets no code where the service treats the user as unknown or as not
 * eligible: then the service may be correct, but there is no user to check it with.
 *
 * @throws Stop with one sentence
 */
export async function stopWithoutUser (service: Service, arrival: Arrival): Promise<void> {
  const loggedOut = await service.loggedOut()
  const unknown = alike(arrival, loggedOut)
  if (!asksForUser(arrival, service, unknown)) return
  const got = `${describe(arrival.exchange)} at ${new URL(arrival.url).pathname}`
  if (unknown && refusesAsUser(arrival)) throw new Stop(`${TAKES_EVERYBODY} (${got})`)
  if (!unknown) {
    throw new Stop(
      `The service refuses this user (${got}): make a user known who may enter the portal.`
    )
  }
  const noPage = loggedOut.at === 'callback' ? NO_LOGIN_PAGE : ''
  throw new Stop(service.hasUser
    ? `${sentButUnknown(service)} (${got})${noPage}`
    : `Nobody is logged in (${got}): ${MAKE_KNOWN}${noPage}`)
}

const TAKES_EVERYBODY =
  'The service takes every browser for a user who may not enter, also one without cookies: ' +
  'see whether currentUser returns null where nobody is logged in'

/** A refusal that speaks of what the user may do, not of a login. */
function refusesAsUser (arrival: Arrival): boolean {
  const text = String(sentToPortal(arrival).get('error_description'))
  return /may not|not (?:allowed|authori[sz]ed|eligible|permitted)/i.test(text) &&
    !/log(?:ged)?[ -]?in/i.test(text)
}

/** A login page, a refusal, a redirect elsewhere, or an error that an unknown user gets as well. */
function asksForUser (arrival: Arrival, { integration }: Service, unknown: boolean): boolean {
  if (arrival.at === 'loop') return unknown
  if (arrival.at === 'elsewhere') {
    return !arrival.location.startsWith(new URL(integration.redirectUri).origin)
  }
  if (arrival.at === 'callback') {
    return REFUSALS.includes(String(sentToPortal(arrival).get('error')))
  }
  const status = statusOf(arrival.exchange)
  if (status < 300 || status === 401 || status === 403) return true
  return unknown && arrival.url.split('?')[0] !== integration.authorizeUrl
}

/** Whether two browsers ended in the same place. The state is not compared. */
export const alike = (one: Arrival, other: Arrival): boolean => placeOf(one) === placeOf(other)

function placeOf (arrival: Arrival): string {
  const sent = sentToPortal(arrival)
  if (arrival.at === 'callback') {
    return JSON.stringify([sent.get('error'), sent.get('error_description')])
  }
  const { origin, pathname } = new URL(arrival.at === 'elsewhere' ? arrival.location : arrival.url)
  return JSON.stringify([arrival.at, statusOf(arrival.exchange), origin, pathname])
}

export const namesOf = (cookies: Cookie[]): string => cookies.map(({ name }) => name).join(', ')

/** What was sent, and the most likely reason why it identifies nobody. */
function sentButUnknown (service: Service): string {
  const { cookies, headers } = service.settings.user
  if (cookies.length === 0) {
    const names = headers.map(([name]) => name).join(', ')
    return `The header ${names} was sent and logs nobody in; is it the one that the application ` +
      'reads?'
  }
  const address = new URL(service.integration.authorizeUrl)
  const isSent = (cookie: Cookie): boolean => new CookieJar([cookie]).header(address) !== ''
  const sent = cookies.filter(isSent)
  const withheld = cookies.filter((cookie) => !isSent(cookie))
  const mismatch = `${namesOf(withheld)} was not sent: its Path or Secure does not fit ` +
    `${address.origin}${address.pathname}`
  if (sent.length === 0) return `The cookie ${mismatch}`
  const reason = withheld.length === 0 ? reasonOf(service, cookies) : mismatch
  return `The cookie ${namesOf(sent)} was sent and logs nobody in: ${reason}`
}

function reasonOf ({ anonymous }: Service, cookies: Cookie[]): string {
  const empty = cookies.find(({ value }) => value === '')
  if (empty !== undefined) return `${empty.name} has no value; is there no = in it?`
  const others = anonymous.jar.all()
    .filter(({ name }) => cookies.every((cookie) => cookie.name !== name))
  const hint = others.length === 0 ? '' : `; the service itself sets ${namesOf(others)}`
  return `has it expired, is its name another one, or is its value not signed${hint}?`
}
