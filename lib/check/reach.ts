import { targetOf } from '../flow/browser.ts'
import { isSecure } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, isRedirect, statusOf } from '../flow/wire.ts'
import { isPrivate } from './address.ts'
import { explainRefusal } from './registered.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, NoResponse } from './rule.ts'
import type { Subject } from './subject.ts'
import { SHARED } from './subject.ts'
import type { Endpoint } from './voice.ts'
import { becameOf, hasCode, notThePlugin, quoted, reasonsOf } from './voice.ts'

/** Refusals that do not depend on who the user is. */
const UNREGISTERED = ['client_id_unknown', 'redirect_uri_unregistered']

/** Does the portal reach the plugin? */
export const REACH: readonly Rule[] = [
  {
    id: 'authorize.hook',
    severity: 'must',
    sentence: 'The browser of a user who is not logged in reaches the plugin at /oauth/authorize.',
    fix: 'Exempt /oauth/authorize from the hooks of the app: the plugin itself finds out who the user is.',
    isGate: true,
    test: authorizeIsReached
  },
  {
    id: 'address.https',
    severity: 'must',
    sentence: 'The portal calls the app by https, at an address that needs no redirect.',
    fix: 'Put TLS in front of the app and give the portal the https addresses.',
    test: async ({ integration: { base } }) => {
      expect(isSecure(base), `the base URL is ${base.href}`, {
        severity: isPrivate(base.hostname) ? 'should' : 'must'
      })
    }
  },
  {
    id: 'authorize.registered',
    severity: 'must',
    sentence: 'The app has registered this client_id and this redirect_uri.',
    fix: 'Register both exactly as the portal sends them.',
    isGate: true,
    test: async (subject) => {
      const exchange = await plain(subject)
      const reasons = reasonsOf(exchange)
      const became = becameOf(exchange, 'authorize.hook')
      if (became !== null) throw became
      if (reasons.some((reason) => UNREGISTERED.includes(reason))) {
        throw await explainRefusal(subject, exchange)
      }
    }
  },
  {
    id: 'token.hook',
    severity: 'must',
    sentence: 'The portal’s server reaches the plugin at /oauth/token, with its form as it was sent.',
    fix: 'Exempt /oauth/token from the hooks of the app (login, CSRF): the portal calls it without cookies.',
    isGate: true,
    test: async (subject) => {
      const leg = await subject.redeem({ code: 'c'.repeat(43) }).catch((error) => hangs(subject, error))
      const exchange = await judge(subject, leg.exchange, 'token', [400, 401])
      const became = becameOf(exchange, 'token.hook')
      // Wrong credentials are no matter of the way.
      if (became !== null && !reasonsOf(exchange).includes('client_secret_wrong')) throw became
    }
  },
  {
    id: 'user.hook',
    severity: 'must',
    sentence: 'The portal’s server reaches the plugin at /oauth/user, with its Authorization header.',
    fix: 'Exempt /oauth/user from the hooks of the app (login, API keys): the portal calls it without cookies.',
    isGate: true,
    test: async (subject) => {
      const leg = await subject.user('t'.repeat(43))
      const exchange = await judge(subject, leg.exchange, 'user', [401])
      const became = becameOf(exchange, 'user.hook')
      if (became !== null) throw became
    }
  },
  {
    id: 'address.no-downgrade',
    severity: 'must',
    sentence: 'The browser is not sent from https to http.',
    fix:
      'Let the app know that TLS ends in front of it (Fastify: trustProxy; the proxy: X-Forwarded-Proto), ' +
      'or build redirects without scheme and host.',
    test: async (subject) => {
      const { arrival } = await subject.nobody()
      const target = new URL(targetOf(arrival) ?? arrival.url)
      const { protocol, hostname } = subject.integration.base
      const isKept = target.protocol === 'https:' || (isSecure(target) && target.hostname !== hostname)
      expect(protocol !== 'https:' || isKept, `a redirect to ${target.origin}${target.pathname}`)
    }
  }
]

/** The response to an authorization request of nobody. */
const plain = async (subject: Subject): Promise<Exchange> =>
  (await subject.nobody()).arrival.hops[0] as Exchange

/**
 * A request without client_id, as a browser and as a program ask: the plugin refuses it before it
 * asks who the user is.
 */
async function incomplete (subject: Subject): Promise<Exchange[]> {
  const changes = { client_id: undefined }
  const browser = subject.browserOf()
  return Promise.all([subject.ask(browser, changes), subject.ask(browser, changes), subject.askJson(changes)])
}

/** Whether something in front leads nobody to a login before the plugin does. */
const isGuarded = (subject: Subject): Promise<boolean> =>
  subject.once('guarded', async () => {
    const whole = await plain(subject)
    const isRefused = (await incomplete(subject)).some(
      (exchange) => reasonsOf(exchange).length > 0 || statusOf(exchange) === 400
    )
    return !isRefused && isRedirect(statusOf(whole)) && isElsewhere(whole, header(whole.response, 'location'))
  })

/**
 * A request without client_id must be refused by the plugin: whatever else is said, a hook or a
 * proxy said it. It may stay there where the app still leads people to their login and back.
 */
async function authorizeIsReached (subject: Subject): Promise<void> {
  const exchanges = await incomplete(subject)
  const refused = exchanges.filter((exchange) => reasonsOf(exchange).includes('client_id_missing'))
  // The third one asks for JSON, which is another request.
  const [other] = exchanges.slice(0, 2).filter((exchange) => reasonsOf(exchange).length === 0)
  const isOther = other !== undefined && statusOf(other) !== 400
  if (refused.length > 0 && isOther) throw differs(other)
  if (refused.length > 0) return
  const whole = await plain(subject)
  // The plugin's refusal in other words, as the refusals show.
  if (statusOf(exchanges[0] as Exchange) === 400 && statusOf(whole) !== 400) return
  const { base } = subject.integration
  const isAway = new URL(header(whole.response, 'location') || '/', base).origin !== base.origin
  // A login guard of the app that redirects people; what becomes of them is tried by a real login.
  if ((await isGuarded(subject)) && !isAway) return
  if (await isKnownPast(subject)) return
  throw await alsoAt(
    subject,
    notThePlugin(whole, 'authorize')
  )
}

/** Whether the user passes what is in front: a gateway that names the user in a header, or a single sign-on. */
async function isKnownPast (subject: Subject): Promise<boolean> {
  const [user] = subject.options.users
  if (user?.headers === undefined && user?.cookies === undefined) return false
  const known = await subject.ask(subject.browserOf(user))
  return reasonsOf(known).length > 0 || hasCode(known)
}

const differs = (exchange: Exchange): Failed =>
  new Failed(`the plugin responds, and then, to the same request, something else: ${quoted(exchange)}`, {
    rule: 'service.one-store',
    fix: 'One of the processes is down, or has not the plugin: ' + SHARED
  })

/** Whether a redirect leads to another path: not the same one with a slash, or at another scheme. */
function isElsewhere ({ request: { url } }: Exchange, location: string): boolean {
  const place = (to: string): string => new URL(to, url).pathname.replace(/\/$/, '')
  return URL.canParse(location, url) && place(location) !== place(url)
}

/** The finding, and whether the other endpoints have the same in front. */
async function alsoAt (subject: Subject, finding: Failed): Promise<Failed> {
  if (finding.details.rule === 'address.https') return finding
  const { exchange } = await subject.user('t'.repeat(43))
  if (reasonsOf(exchange).length > 0) return finding
  return new Failed(`${finding.message}; GET /oauth/user alike: ${quoted(exchange)}`, finding.details)
}

/**
 * A response that the plugin did not give, with the status that the plugin would have had, may be
 * the plugin's refusal in other words: then a right request decides.
 */
async function judge (subject: Subject, exchange: Exchange, endpoint: Endpoint, own: number[]): Promise<Exchange> {
  if (reasonsOf(exchange).length > 0 || own.includes(statusOf(exchange))) return exchange
  const { message, details } = notThePlugin(exchange, endpoint)
  throw new Failed(message, (await isGuarded(subject)) ? { ...details, rule: 'authorize.hook' } : details)
}

/** A form that gets no response, where the address itself does: something has read the body. */
async function hangs (subject: Subject, error: unknown): Promise<never> {
  if (!(error instanceof NoResponse) || error.code !== 'timeout') throw error
  const { tokenUrl, send } = subject.integration
  const empty = await send({ method: 'GET', url: tokenUrl, headers: [['Accept', 'application/json']] })
  throw new Failed(
    `a form gets no response, and a request without body does (${describe(empty)}): ` +
      'something has read the body before Fastify could',
    {
      fix: 'Exempt /oauth/token from body parsers in front, most often Express ones (express.urlencoded, NestJS).'
    }
  )
}
