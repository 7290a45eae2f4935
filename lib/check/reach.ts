import { redirectTarget } from '../flow/browser.ts'
import { isSecure } from '../flow/cookies.ts'
import type { Leg } from '../flow/legs.ts'
import type { Exchange } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'
import { isPrivate } from './address.ts'
import { explainRefusal } from './registered.ts'
import type { Rule } from './rule.ts'
import { expect, Failed } from './rule.ts'
import type { Subject } from './subject.ts'
import { SHARED } from './subject.ts'
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
      if (reasons.some((reason) => UNREGISTERED.includes(reason))) throw await explainRefusal(subject, exchange)
      if (reasons.length === 0 && statusOf(exchange) === 400) throw notThePlugin(exchange, 'authorize')
    }
  },
  {
    id: 'token.hook',
    severity: 'must',
    sentence: 'The portal’s server reaches the plugin at /oauth/token, with its form as it was sent.',
    fix:
      'Exempt /oauth/token from the hooks of the app (login, CSRF) and from body parsers in front ' +
      '(express.urlencoded, NestJS): the portal calls it without cookies.',
    isGate: true,
    test: async (subject) => expectReached('token', await subject.redeem({ code: 'c'.repeat(43) }), [400, 401])
  },
  {
    id: 'user.hook',
    severity: 'must',
    sentence: 'The portal’s server reaches the plugin at /oauth/user, with its Authorization header.',
    fix: 'Exempt /oauth/user from the hooks of the app (login, API keys): the portal calls it without cookies.',
    isGate: true,
    test: async (subject) => expectReached('user', await subject.user('t'.repeat(43)), [401])
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
      const target = arrival.target ?? new URL(arrival.url)
      const { protocol, hostname } = subject.integration.base
      const isKept = target.protocol === 'https:' || (isSecure(target) && target.hostname !== hostname)
      expect(protocol !== 'https:' || isKept, `a redirect to ${target.origin}${target.pathname}`)
    }
  }
]

/** The response to an authorization request of nobody. */
const plain = async (subject: Subject): Promise<Exchange> =>
  (await subject.nobody()).arrival.hops[0] as Exchange

/** Requests without client_id: the plugin refuses them before it asks who the user is. */
const incomplete = (subject: Subject): Promise<Exchange[]> => {
  const browser = subject.browserOf()
  return Promise.all([1, 2, 3].map(() => subject.ask(browser, { client_id: undefined })))
}

/** A refusal of the plugin, perhaps in other words: the rules on refusals say so. */
const isRefusal = (exchange: Exchange): boolean => reasonsOf(exchange).length > 0 || statusOf(exchange) === 400

/** Without client_id the plugin must refuse: whatever else is said, a hook or a proxy said it. */
async function authorizeIsReached (subject: Subject): Promise<void> {
  const exchanges = await incomplete(subject)
  const other = exchanges.find((exchange) => !isRefusal(exchange))
  if (other === undefined) return
  if (exchanges.some(isRefusal)) {
    throw new Failed(`the plugin responds, and to the same request something else: ${quoted(other)}`, {
      rule: 'service.one-store',
      fix: `One of the processes is down, or has not the plugin: ${SHARED}`
    })
  }
  const exchange = await plain(subject)
  if (isLedOn(exchange) || (await isKnownPast(subject))) return
  throw notThePlugin(exchange, 'authorize')
}

/** Whether a guard of the app leads nobody to a login: a real login tries the way back. */
function isLedOn (exchange: Exchange): boolean {
  const from = new URL(exchange.request.url)
  const to = redirectTarget(exchange) ?? from
  return to.pathname.replace(/\/$/, '') !== from.pathname && to.origin === from.origin
}

/** Whether the user passes what is in front: a gateway that names the user in a header, or a single sign-on. */
async function isKnownPast (subject: Subject): Promise<boolean> {
  const [user] = subject.options.users
  if (user?.headers === undefined && user?.cookies === undefined) return false
  const known = await subject.ask(subject.browserOf(user))
  return reasonsOf(known).length > 0 || hasCode(known)
}

/**
 * The response to a token or user request with made-up values: that of the plugin, or at least its
 * status.
 */
function expectReached (endpoint: 'token' | 'user', { exchange }: Leg<unknown>, statuses: number[]): void {
  const reasons = reasonsOf(exchange)
  if (reasons.length === 0 && !statuses.includes(statusOf(exchange))) throw notThePlugin(exchange, endpoint)
  // Wrong credentials are no matter of the way.
  const became = reasons.includes('client_secret_wrong') ? null : becameOf(exchange, `${endpoint}.hook`)
  if (became !== null) throw became
}
