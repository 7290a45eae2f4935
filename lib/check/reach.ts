import { targetOf } from '../flow/browser.ts'
import { isSecure } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, isRedirect, statusOf } from '../flow/wire.ts'
import { explainRefusal } from './registered.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, NoResponse } from './rule.ts'
import type { Subject } from './subject.ts'
import type { Endpoint } from './voice.ts'
import { becameOf, notThePlugin, quoted, reasonsOf } from './voice.ts'

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
      // A name without a dot, or of a private network, is no address of production.
      const isPrivate =
        /^[^.]+$|^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|\.(?:local|internal|test|lan)$/.test(
          base.hostname
        )
      expect(isSecure(base), `the base URL is ${base.href}`, { severity: isPrivate ? 'should' : 'must' })
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
      if (reasons.some((reason) => UNREGISTERED.includes(reason))) { throw await explainRefusal(subject, exchange) }
    }
  },
  {
    id: 'token.hook',
    severity: 'must',
    sentence: 'The portal’s server reaches the plugin at /oauth/token, with its form as it was sent.',
    fix: 'Exempt /oauth/token from the hooks of the app (login, CSRF): the portal calls it without cookies.',
    isGate: true,
    test: async (subject) => {
      const asked = subject.redeem({ code: 'c'.repeat(43) }).catch((error) => hangs(subject, error))
      const { exchange } = await asked
      judge(exchange, 'token', [400, 401])
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
      const { exchange } = await subject.user('t'.repeat(43))
      judge(exchange, 'user', [401])
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
      const isHttps = subject.integration.base.protocol === 'https:'
      expect(!isHttps || isSecure(target), `a redirect to ${target.origin}${target.pathname}`)
    }
  }
]

/** The response to an authorization request of nobody, without following redirects. */
const plain = (subject: Subject): Promise<Exchange> => subject.once('plain', () => subject.askJson())

/** A request that the plugin refuses before it asks who the user is. */
const incomplete = (subject: Subject): Promise<Exchange> =>
  subject.once('incomplete', () => subject.askJson({ client_id: undefined }))

/**
 * A request without client_id must be refused by the plugin: whatever else is said, a hook or a
 * proxy said it. It may stay there where the app still leads people to their login and back.
 */
async function authorizeIsReached (subject: Subject): Promise<void> {
  const exchange = await incomplete(subject)
  const reasons = reasonsOf(exchange)
  if (reasons.includes('client_id_missing')) return
  if (reasons.length > 0) throw becameOf(exchange, 'authorize.hook') ?? notThePlugin(exchange, 'authorize')
  const whole = await plain(subject)
  if (reasonsOf(whole).length > 0 && statusOf(exchange) === 400) return
  const target = header(whole.response, 'location')
  // A login guard of the app that redirects people; what becomes of them is tried by a real login.
  if (isRedirect(statusOf(whole)) && isElsewhere(whole, target) && statusOf(exchange) < 400) return
  const user = subject.options.users[0]
  // A gateway in front names the user in a header, and refuses requests without it.
  if (user?.headers !== undefined && Object.keys(user.headers).length > 0) {
    const known = await subject.ask(subject.browserOf(user))
    if (reasonsOf(known).length > 0 || isRedirect(statusOf(known))) return
    throw notThePlugin(known, 'authorize')
  }
  throw await alsoAt(subject, notThePlugin(statusOf(whole) >= 400 ? whole : exchange, 'authorize'))
}

/** Whether a redirect leads to another path: not the same one with a slash, or at another scheme. */
function isElsewhere ({ request }: Exchange, location: string): boolean {
  if (!URL.canParse(location, request.url)) return false
  const [from, to] = [new URL(request.url), new URL(location, request.url)]
  return from.pathname.replace(/\/$/, '') !== to.pathname.replace(/\/$/, '')
}

/** The finding, and whether the other endpoints have the same in front. */
async function alsoAt (subject: Subject, finding: Failed): Promise<Failed> {
  if (finding.details.rule === 'address.https') return finding
  const { exchange } = await subject.user('t'.repeat(43))
  if (reasonsOf(exchange).length > 0) return finding
  return new Failed(`${finding.message}; GET /oauth/user alike: ${quoted(exchange)}`, finding.details)
}

/**
 * A response that the plugin did not give. With the status that the plugin would have had it may be
 * the plugin's refusal in other words: then a right request decides.
 */
function judge (exchange: Exchange, endpoint: Endpoint, own: number[]): void {
  if (reasonsOf(exchange).length > 0 || own.includes(statusOf(exchange))) return
  throw notThePlugin(exchange, endpoint)
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
