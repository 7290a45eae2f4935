// Does something change responses on the way?
import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { describe } from '../flow/failure.ts'
import type { Leg } from '../flow/legs.ts'
import type { Headers } from '../flow/wire.ts'
import { header, jsonObject, statusOf } from '../flow/wire.ts'
import type { Rule } from './rule.ts'
import type { Subject } from './subject.ts'
import type { Details, Verdict } from './verdict.ts'
import { Fault, gravest } from './verdict.ts'
import { hasCode, isGiven, isPlugin, nameOf, reasonsOf } from './voice.ts'

export const serviceHeaders: Rule = {
  id: 'service.headers',
  group: 'front',
  severity: 'must',
  sentence: 'The headers that protect the plugin’s responses arrive.',
  fix: 'Something behind the plugin, a proxy or a header set on the raw response, changes its headers: leave them.',
  async test (subject) {
    await askFromOtherSite(subject)
    const ofPlugin = subject.seen.filter((exchange) => isPlugin(exchange) || hasCode(exchange) || isGiven(exchange))
    return gravest(HEADERS.flatMap(([name, pattern, where, details]) =>
      ofPlugin
        .filter((exchange) => where.test(`${statusOf(exchange)} ${nameOf(exchange)}`))
        .map((exchange) => {
          const value = header(exchange.response, name.toLowerCase())
          return pattern.test(value) ? null : new Fault(`${nameOf(exchange)}: ${name}: ${value || 'none'}`, details)
        })))
  }
}

export const serviceRefusals: Rule = {
  id: 'service.refusals',
  group: 'front',
  severity: 'should',
  sentence: 'The plugin’s refusals reach the portal as they are.',
  fix: 'An onSend hook, an error handler or a proxy (nginx: proxy_intercept_errors) replaces them: exempt /oauth/*.',
  test: async (subject) => gravest([
    changedRefusal(await subject.redeemUnknown(), 'code_unknown'),
    changedRefusal(await subject.userUnknown(), 'token_unknown')
  ])
}

/** Requests of a script of another site, without credentials. CORS headers may be sent to those only. */
async function askFromOtherSite (subject: Subject) {
  const { tokenUrl, userUrl, send } = subject.integration
  const headers: Headers = [['Accept', 'application/json'], ['Origin', 'https://attacker.example']]
  const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const
  await subject.askJson({ client_id: undefined }, headers.slice(1))
  await send({ method: 'GET', url: userUrl, headers })
  await send({ method: 'POST', url: tokenUrl, headers: [...headers, form], body: 'grant_type=' })
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

/** The fault where a refusal that was provoked has not its body, status and header, as the plugin sends them. */
function changedRefusal ({ exchange }: Leg<unknown>, reason: RefusalReason): Verdict {
  const { status, description } = refusals[reason]
  const isComplete =
    reasonsOf(exchange).includes(reason) &&
    jsonObject(exchange.response)?.error_description === description &&
    statusOf(exchange) === status &&
    (status === 400 || header(exchange.response, 'www-authenticate') !== '')
  if (isComplete) return null
  return new Fault(
    `${nameOf(exchange)}: ${describe(exchange)}, not ${status} “${description}” (401: with WWW-Authenticate)`,
    { severity: 'should' }
  )
}
