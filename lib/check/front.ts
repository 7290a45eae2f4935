import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { describe } from '../flow/failure.ts'
import type { Leg } from '../flow/legs.ts'
import type { Changes } from '../flow/requests.ts'
import { header, statusOf } from '../flow/wire.ts'
import type { Details, Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Subject } from './subject.ts'
import { hasCode, isGiven, nameOf, reasonsOf } from './voice.ts'

/** What the rules on refusals have in common. */
const REFUSAL = {
  fix: 'A hook, an error handler or a proxy changes the plugin’s refusal: leave it as it is.',
  isSanity: true
} as const

/** Does something change responses on the way? */
export const FRONT: readonly Rule[] = [
  {
    id: 'service.headers',
    sentence: 'The headers that protect the plugin’s responses arrive.',
    fix: 'Something behind the plugin, a proxy or a header set on the raw response, changes its headers: leave them.',
    async test (subject) {
      await subject.askJson({ client_id: undefined }, [['Origin', 'https://attacker.example']])
      const ofPlugin = subject.seen.filter((exchange) =>
        reasonsOf(exchange).length > 0 || hasCode(exchange) || isGiven(exchange)
      )
      for (const [name, pattern, where, details] of HEADERS) {
        for (const exchange of ofPlugin) {
          const value = header(exchange.response, name.toLowerCase())
          const isElsewhere = !where.test(`${statusOf(exchange)} ${nameOf(exchange)}`)
          expect(isElsewhere || pattern.test(value), `${nameOf(exchange)}: ${name}: ${value || 'none'}`, details)
        }
      }
    }
  },
  {
    id: 'service.refusals',
    severity: 'should',
    sentence: 'The plugin’s refusals reach the portal as they are.',
    fix: 'An onSend hook, an error handler or a proxy (nginx: proxy_intercept_errors) replaces them: exempt /oauth/*.',
    async test (subject) {
      expectRefusal(await subject.redeem({ code: 'c'.repeat(43) }), 'code_unknown')
      expectRefusal(await subject.user('t'.repeat(43)), 'token_unknown')
    }
  },
  {
    ...REFUSAL,
    id: 'authorize.foreign-redirect-uri',
    sentence: 'A redirect_uri that is not registered is refused, and nobody is redirected there.',
    test: (subject) => isRefused(subject, { redirect_uri: 'https://attacker.example/oauth/callback' })
  }
]

/** A refused authorization request, and where it redirects to: `portal` stands for the redirect_uri. */
async function isRefused (subject: Subject, changes: Changes, target = /^$/) {
  // A gateway lets only the user pass.
  const exchange = await subject.ask(subject.options.users[0], changes)
  const location = header(exchange.response, 'location').replace(subject.integration.redirectUri, 'portal')
  expect(target.test(location), describe(exchange))
}

/** Headers, their values, and on which responses: status, method, path. */
const HEADERS: Array<[name: string, value: RegExp, where: RegExp, details?: Details]> = [
  ['Cache-Control', /\bno-store\b/i, /./],
  ['Content-Encoding', /^$/, /./],
  ['Access-Control-Allow-Origin', /^$/, /./, {
    fix: 'Something adds CORS headers, which let pages of other sites read the response: exempt /oauth/*.'
  }],
  ['Referrer-Policy', /(?:no-referrer|origin)$/i, /authorize$/, { severity: 'should' }],
  ['Content-Security-Policy', /frame-ancestors '(?:none|self)'/i, /authorize$/, { severity: 'should' }],
  // A page of the host's own, for a refusal, ends no sign-in that uses a popup.
  ['Cross-Origin-Opener-Policy', /^(?:unsafe-none)?$/i, /^3.*authorize$/, {
    severity: 'should',
    fix: 'It breaks portals that sign in by a popup: leave it off the redirects of /oauth/authorize.'
  }]
]

/** A refusal that was provoked: its sentence, status and header, as the plugin sends them. */
function expectRefusal ({ exchange }: Leg<unknown>, reason: RefusalReason) {
  const { status, description } = refusals[reason]
  const isComplete =
    reasonsOf(exchange).includes(reason) &&
    statusOf(exchange) === status &&
    (status === 400 || header(exchange.response, 'www-authenticate') !== '')
  expect(
    isComplete,
    `${nameOf(exchange)}: ${describe(exchange)}, not ${status} “${description}” (401: with WWW-Authenticate)`
  )
}
