// Does the portal reach the plugin?
import type { Arrival } from '../flow/browser.ts'
import { isSecure } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import { formsOf } from '../flow/login-form.ts'
import type { Changes } from '../flow/requests.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, statusOf } from '../flow/wire.ts'
import { isLoopback } from '../loopback.ts'
import { isPrivate } from './address.ts'
import type { Rule } from './rule.ts'
import { isHtml } from './session.ts'
import type { Subject } from './subject.ts'
import type { Or, Verdict } from './verdict.ts'
import { advice, atOnce, Fault, isVerdict, Untested } from './verdict.ts'
import { becameOf, DOWNGRADE, inWords, isPlugin, isSigned, nameOf, notThePlugin, reasonsOf, REGISTER } from './voice.ts'

/** How often a request is sent that may reach another process each time. */
const PROCESSES = [1, 2, 3]

export const authorizeHook: Rule = {
  id: 'authorize.hook',
  group: 'reach',
  severity: 'must',
  sentence: 'The browser of a user who is not logged in reaches the plugin at /oauth/authorize.',
  fix: 'Exempt /oauth/authorize from the hooks of the app: the plugin itself finds out who the user is.',
  isGate: true,
  /**
   * Without client_id the plugin must refuse, before it asks who the user is: whatever else is
   * responded, a hook or a proxy responded.
   */
  async test (subject) {
    const anonymous = await everywhere(() => visit(subject, { client_id: undefined }))
    if (isVerdict(anonymous)) return anonymous
    if (isPlugin(anonymous.exchange) || isLogin(subject, anonymous)) return null
    // A gateway lets only the user pass, by a header.
    const known = subject.options.users.find(({ headers = {} }) => Object.keys(headers).length > 0)
    if (known !== undefined) {
      const { exchange } = await subject.authorize(subject.browserOf(known), { client_id: undefined })
      if (isPlugin(exchange)) return null
    }
    // A proxy that takes unknown headers away leaves the plugin’s JSON as it is.
    const json = await subject.askJson({ client_id: undefined })
    if (isPlugin(json) && !isSigned(json)) return null
    return notThePlugin(anonymous.exchange, await fixAtAnyPath(subject, anonymous))
  }
}

export const addressHttps: Rule = {
  id: 'address.https',
  group: 'reach',
  severity: 'must',
  sentence: 'The portal calls the app by https, at an address that needs no redirect, and no redirect leads to http.',
  fix: 'Give the portal the addresses at which the app responds without a redirect: https, with TLS in front of it.',
  async test (subject) {
    const { base } = subject.integration
    const { at, exchange, target } = await subject.nobody()
    if (base.protocol === 'https:' && at === 'elsewhere' && target?.protocol === 'http:') {
      return new Fault(describe(exchange), { fix: DOWNGRADE })
    }
    if (isLoopback(base.hostname)) {
      return new Untested('it needs the base URL at which the portal reaches the app, not one of this machine')
    }
    if (isSecure(base)) return null
    const got = `the base URL is ${base.href}`
    return isPrivate(base.hostname) ? advice(got) : new Fault(got)
  }
}

export const authorizeRegistered: Rule = {
  id: 'authorize.registered',
  group: 'reach',
  severity: 'must',
  sentence: 'The app has registered this client_id and this redirect_uri.',
  fix: 'Register both exactly as the portal sends them.',
  isGate: true,
  // A guard that leads people to the login does not ask the plugin.
  provenBy: 'authorize.code',
  async test (subject) {
    const arrival = await everywhere(() => visit(subject))
    if (isVerdict(arrival)) return arrival
    const { exchange } = arrival
    if (!isPlugin(first(arrival))) {
      const code = await atKnownUser(subject)
      return code ?? new Untested('it needs a user who gets in: without a user the app leads to its login')
    }
    return (await notRegistered(subject, exchange)) ?? becameOf(exchange) ?? (await knowsEveryClient(subject))
  }
}

export const tokenHook: Rule = {
  id: 'token.hook',
  group: 'reach',
  severity: 'must',
  sentence: 'The portal’s server reaches the plugin at /oauth/token, with its form as it was sent.',
  fix:
    'Exempt /oauth/token from the hooks of the app (login, CSRF) and from body parsers in front ' +
    '(express.urlencoded, NestJS): the portal calls it without cookies.',
  isGate: true,
  provenBy: 'token.response',
  async test (subject) {
    const { exchange } = await subject.redeemUnknown()
    const { send } = subject.integration
    const empty = () => send({ ...exchange.request, headers: FORM, body: 'grant_type=' })
    return (await differs(exchange, () => send(exchange.request), empty)) ??
      (await bodyIsLimited(subject, exchange)) ??
      reached(exchange, [400, 401])
  }
}

export const userHook: Rule = {
  id: 'user.hook',
  group: 'reach',
  severity: 'must',
  sentence: 'The portal’s server reaches the plugin at /oauth/user, with its Authorization header.',
  fix: 'Exempt /oauth/user from the hooks of the app (login, API keys): the portal calls it without cookies.',
  isGate: true,
  provenBy: 'user.record',
  async test (subject) {
    const { exchange } = await subject.userUnknown()
    const { userUrl: url, send } = subject.integration
    const empty = () => send({ method: 'GET', url, headers: [['Accept', 'application/json']] })
    return (await differs(exchange, () => send(exchange.request), empty)) ?? reached(exchange, [401])
  }
}

const FORM = [['Accept', 'application/json'], ['Content-Type', 'application/x-www-form-urlencoded']] as const

/** A browser of nobody at the authorization endpoint. */
const visit = (subject: Subject, changes?: Changes) => subject.authorize(subject.browserOf(), changes)

/** The response to the request itself: the plugin’s leads to the login. */
const first = ({ hops, exchange }: Arrival): Exchange =>
  hops.find((hop) => isPlugin(hop)) ?? exchange

/** What requests with the same content get in common; a fault where the plugin responds to some of them only. */
async function everywhere (send: () => Promise<Arrival>): Promise<Or<Arrival>> {
  const arrivals = await atOnce(PROCESSES.map(send))
  const [one] = arrivals as [Arrival]
  const other = arrivals.find((arrival) => kindOf(arrival) !== kindOf(one))
  if (other === undefined) return one
  const [good, bad] = isPlugin(first(one)) && statusOf(one.exchange) < 400 ? [one, other] : [other, one]
  return differing(bad.exchange, good.exchange)
}

/** What a response comes to: the plugin’s reason or status, or that of something else. */
const kindOf = (arrival: Arrival) => {
  const { exchange } = arrival
  const [reason = statusOf(exchange)] = reasonsOf(exchange)
  return `${isPlugin(first(arrival))} ${reason}`
}

const differing = (bad: Exchange, good: Exchange) =>
  new Fault(`the same request gets different responses: ${nameOf(bad)}: ${inWords(bad)}, and ${inWords(good)}`, {
    rule: 'service.one-store',
    exchange: bad
  })

/**
 * A fault where the plugin responds to some requests only.
 *
 * @param exchange - of a request as the portal sends it
 * @param repeat - sends it once more
 * @param empty - sends one without credentials: each wrong credential is an alarm somewhere
 */
async function differs (
  exchange: Exchange,
  repeat: () => Promise<Exchange>,
  empty: () => Promise<Exchange>
): Promise<Fault | null> {
  const [one, other] = await atOnce([empty(), empty()]) as [Exchange, Exchange]
  if (isPlugin(one) !== isPlugin(other)) return isPlugin(one) ? differing(other, one) : differing(one, other)
  if (isPlugin(one) === isPlugin(exchange)) return null
  // A filter on the content is no other process: it does the same again.
  const again = await (isPlugin(exchange) ? empty() : repeat())
  const good = [exchange, one, again].find(isPlugin) as Exchange
  const bad = [exchange, one].find((seen) => !isPlugin(seen)) as Exchange
  if (isPlugin(again)) return differing(bad, good)
  return isPlugin(exchange) ? null : notThePlugin(exchange)
}

/** Whether a guard of the app leads people to a login, or sends it itself. A real login tries the way back. */
function isLogin ({ integration: { authorizeUrl } }: Subject, { at, exchange, target, url }: Arrival): boolean {
  const { pathname } = new URL(authorizeUrl)
  const isForm = isHtml(exchange) && formsOf(String(exchange.response?.body)).length > 0
  if (at === 'page') return (statusOf(exchange) < 400 && !url.startsWith(authorizeUrl)) || isForm
  return at === 'elsewhere' && !target?.pathname.endsWith(pathname)
}

/** What to do where the app responds in the same way to a path that nobody has; undefined where it does not. */
async function fixAtAnyPath (subject: Subject, { hops: [sent] }: Arrival): Promise<string | undefined> {
  const { exchange, hops: [other = exchange] } = await subject
    .browserOf()
    .open(`${subject.integration.base.href.replace(/\/$/, '')}/oauth/no-such-path`)
  const looks = (one = exchange) => [
    statusOf(one),
    header(one.response, 'content-type'),
    header(one.response, 'location').replace(/\?.*/, '')
  ].join()
  if (looks(other) !== looks(sent)) return undefined
  return `Whatever the path below /oauth, this is responded. ${REGISTER} If the plugin is registered there, a hook ` +
    'or something in front responds to everything: exempt /oauth/*.'
}

/** The fault where the plugin says that it does not know client_id or redirect_uri. */
export async function notRegistered (subject: Subject, exchange: Exchange): Promise<Fault | null> {
  const [reason = ''] = reasonsOf(exchange)
  if (!['client_id_unknown', 'redirect_uri_unregistered'].includes(reason)) return null
  const { clientId, redirectUri } = subject.integration
  return new Fault(`${inWords(exchange)}${await registeredInstead(subject)}`, {
    rule: 'authorize.registered',
    exchange,
    fix:
      `Register exactly the client_id ${clientId} and the redirect_uri ${redirectUri}, or give the ` +
      'registered ones. Where they are right, something on the way changes the query.'
  })
}

/** The rule behind a guard, tried with the cookies and headers of the first user; null where it is not reached. */
async function atKnownUser (subject: Subject): Promise<Verdict> {
  const { exchange } = await subject.authorize(subject.browserOf(subject.options.users[0]))
  return notRegistered(subject, exchange)
}

/** In what addresses usually differ: what to replace. */
const DIFFERENCES = [
  [/\/(?=\?|$)/, ''],
  [/(?=\?|$)/, '/'],
  [/^https:/, 'http:'],
  [/^http:/, 'https:'],
  [/\/\/localhost/, '//127.0.0.1'],
  [/\/\/127\.0\.0\.1/, '//localhost']
] as const

/** A similar redirect_uri that the app has registered, in words. */
async function registeredInstead (subject: Subject) {
  const { redirectUri } = subject.integration
  const similar = DIFFERENCES.map(([part, other]) => redirectUri.replace(part, other))
  for (const uri of new Set(similar)) {
    if (uri === redirectUri) continue
    const exchange = await subject.askJson({ redirect_uri: uri })
    if (isPlugin(exchange) && statusOf(exchange) !== 400) return `; the app has registered ${uri}`
  }
  return ''
}

/** Advice where a client_id that nobody has is not refused. */
async function knowsEveryClient (subject: Subject): Promise<Fault | null> {
  const { exchange } = await visit(subject, { client_id: `not-registered-${crypto.randomUUID()}` })
  const isRefused = reasonsOf(exchange).length > 0 || statusOf(exchange) === 400
  return isRefused
    ? null
    : advice(
      `a client_id that nobody has registered is not refused: ${describe(exchange)}`,
      'Return null from the `portal` function for a client_id that is not in your table.'
    )
}

/** The fault of a limit that the usual form exceeds: a shorter one is read. */
async function bodyIsLimited (subject: Subject, exchange: Exchange): Promise<Fault | null> {
  if (!reasonsOf(exchange).includes('body_unreadable')) return null
  const short = await subject.integration.send({ ...exchange.request, headers: FORM, body: 'a=1' })
  if (reasonsOf(short).includes('body_unreadable')) return null
  return new Fault(`${inWords(exchange)}, and a shorter body is read`, {
    exchange,
    fix: 'Raise the `bodyLimit` of `routeOptions`, or leave it off: a token request has some hundred bytes.'
  })
}

/**
 * The fault in the way of a request: the plugin did not respond, or the request was changed.
 *
 * @param refusals - statuses of the plugin: something in front may have replaced its response
 */
function reached (exchange: Exchange, refusals: number[]): Verdict {
  if (isPlugin(exchange)) {
    // Wrong credentials have nothing to do with the way.
    return reasonsOf(exchange).includes('client_secret_wrong') ? null : becameOf(exchange)
  }
  return refusals.includes(statusOf(exchange))
    ? new Untested(`it needs a sign-in: whether the plugin responded cannot be told by ${inWords(exchange)}`)
    : notThePlugin(exchange)
}
