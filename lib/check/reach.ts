import { isSecure } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { statusOf } from '../flow/wire.ts'
import { isPrivate } from './address.ts'
import type { Rule } from './rule.ts'
import { atOnce, expect, Failed } from './rule.ts'
import type { Subject } from './subject.ts'
import { becameOf, DOWNGRADE, notThePlugin, reasonsOf } from './voice.ts'

/** Does the portal reach the plugin? */
export const REACH: readonly Rule[] = [
  {
    id: 'authorize.hook',
    sentence: 'The browser of a user who is not logged in reaches the plugin at /oauth/authorize.',
    fix: 'Exempt /oauth/authorize from the hooks of the app: the plugin itself finds out who the user is.',
    isGate: true,
    test: authorizeIsReached
  },
  {
    id: 'address.https',
    sentence: 'The portal calls the app by https, at an address that needs no redirect, and no redirect leads to http.',
    fix: 'Give the portal the addresses at which the app responds without a redirect: https, with TLS in front of it.',
    async test (subject) {
      const { base } = subject.integration
      const { at, exchange, target } = await subject.nobody()
      expect(`${base.protocol} ${at} ${target?.protocol}` !== 'https: elsewhere http:', describe(exchange), {
        fix: DOWNGRADE
      })
      expect(isSecure(base), `the base URL is ${base.href}`, {
        severity: isPrivate(base.hostname) ? 'should' : 'must'
      })
    }
  },
  {
    id: 'authorize.registered',
    sentence: 'The app has registered this client_id and this redirect_uri.',
    fix: 'Register both exactly as the portal sends them.',
    isGate: true,
    async test (subject) {
      const { clientId, redirectUri } = subject.integration
      // A page of the host's own does not say why: JSON does.
      const exchange = await subject.askJson()
      expectReached(exchange, /^(?!400)/)
      if (statusOf(exchange) !== 400) return
      throw new Failed(`${describe(exchange)}${await registeredInstead(subject)}`, {
        exchange,
        fix:
          `Register exactly the client_id ${clientId} and the redirect_uri ${redirectUri}, or give the ` +
          'registered ones.'
      })
    }
  },
  {
    id: 'token.hook',
    sentence: 'The portal’s server reaches the plugin at /oauth/token, with its form as it was sent.',
    fix:
      'Exempt /oauth/token from the hooks of the app (login, CSRF) and from body parsers in front ' +
      '(express.urlencoded, NestJS): the portal calls it without cookies.',
    isGate: true,
    async test (subject) {
      const { exchange } = await subject.redeem({ code: 'c'.repeat(43) })
      expectReached(exchange, /^40[01]$/)
    }
  },
  {
    id: 'user.hook',
    sentence: 'The portal’s server reaches the plugin at /oauth/user, with its Authorization header.',
    fix: 'Exempt /oauth/user from the hooks of the app (login, API keys): the portal calls it without cookies.',
    isGate: true,
    async test (subject) {
      const { exchange } = await subject.user('t'.repeat(43))
      expectReached(exchange, /^401$/)
    }
  }
]

/** A refusal of the plugin, perhaps in other words: the rules on refusals say so. */
const isRefusal = (exchange: Exchange) => reasonsOf(exchange).length > 0 || statusOf(exchange) === 400

/**
 * Without client_id the plugin must refuse, before it asks who the user is: whatever else is said, a
 * hook or a proxy said it.
 */
async function authorizeIsReached (subject: Subject) {
  // A gateway lets only the user pass, by a header or cookie.
  const [user] = subject.options.users
  const exchanges = await atOnce([1, 2, 3].map(() => subject.ask(user, { client_id: undefined })))
  const other = exchanges.find((exchange) => !isRefusal(exchange))
  if (other === undefined) return
  expect(
    !exchanges.some(isRefusal),
    `the plugin responds, and to the same request something else: ${describe(other)}`,
    { rule: 'service.one-store' }
  )
  // A guard of the app may lead nobody to a login: a real login tries the way back.
  const { hops, exchange } = await subject.nobody()
  const isLedOn = hops.some(({ request }) => !request.url.startsWith(subject.integration.authorizeUrl))
  if (!isLedOn) throw notThePlugin(exchange)
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
  for (const uri of similar) {
    const exchange = await subject.askJson({ redirect_uri: uri })
    if (statusOf(exchange) !== 400) return `; the app has registered ${uri}`
  }
  return ''
}

/**
 * The response to a request is that of the plugin, or has at least a status of the plugin, and the
 * request was not changed on its way.
 */
function expectReached (exchange: Exchange, status: RegExp) {
  const reasons = reasonsOf(exchange)
  const isPlugin = reasons.length > 0 || status.test(String(statusOf(exchange)))
  if (!isPlugin) throw notThePlugin(exchange)
  const became = becameOf(exchange)
  // Wrong credentials are no matter of the way.
  if (became !== null && !reasons.includes('client_secret_wrong')) throw became
}
