import { refusals } from '../errors.ts'
import { describe } from '../flow/failure.ts'
import type { Leg } from '../flow/legs.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, isRedirect, statusOf } from '../flow/wire.ts'
import type { Details, Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Subject } from './subject.ts'
import { hasCode, nameOf, quoted, reasonsOf } from './voice.ts'

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
    test: headersArrive
  },
  {
    id: 'service.no-cache',
    sentence: 'No response of the plugin comes from a cache.',
    fix: 'Exempt /oauth/* from every cache in front (CDN, proxy_cache, a hook): the plugin sends no-store.',
    // The same request twice: of a cache the second response is a copy, which ends the check.
    test: async (subject) => {
      const { browser } = await subject.session()
      const url = subject.authorizeUrl()
      await browser.request(url, 'GET')
      await browser.request(url, 'GET')
    }
  },
  {
    id: 'service.refusals',
    severity: 'should',
    sentence: 'The plugin’s refusals reach the portal as they are.',
    fix:
      'An onSend hook, an error handler or a proxy (nginx: proxy_intercept_errors) replaces error responses: exempt ' +
      '/oauth/*, or the portal cannot tell why a sign-in failed.',
    test: refusalsArrive
  },
  {
    id: 'service.rate-limit',
    sentence: 'A rate limit lets right requests pass: the portal’s servers have few addresses.',
    fix:
      'Set the limit of /oauth/token and /oauth/user far above the sign-ins of a minute, also where a limit is ' +
      'global; behind a proxy set trustProxy, or all people share one address.',
    // A limit that is met ends the check where it is met.
    test: async () => {}
  },
  {
    ...REFUSAL,
    id: 'authorize.foreign-redirect-uri',
    sentence: 'A redirect_uri that is not registered is refused, and nobody is redirected there.',
    test: (subject) => isRefused(subject, { redirect_uri: 'https://attacker.example/oauth/callback' })
  },
  {
    ...REFUSAL,
    id: 'authorize.unknown-client',
    sentence: 'An unknown client_id is refused, and nobody is redirected.',
    test: (subject) => isRefused(subject, { client_id: 'nobody-registered-this' })
  },
  {
    ...REFUSAL,
    id: 'authorize.error-redirect',
    sentence: 'Other refusals reach the portal by redirect, with error and state.',
    test: (subject) =>
      isRefused(subject, { response_type: 'token' }, /^portal[?&](?=.*error=unsupported_response_type)(?=.*state=)/)
  }
]

/** A refused authorization request, and where it redirects to: `portal` stands for the redirect_uri. */
async function isRefused (subject: Subject, changes: Record<string, string>, target = /^$/): Promise<void> {
  const { integration: { redirectUri }, options: { users } } = subject
  const browser = users.length > 0 ? (await subject.session()).browser : subject.browserOf()
  const exchange = await subject.ask(browser, changes)
  const location = header(exchange.response, 'location').replace(redirectUri, 'portal')
  expect(target.test(location), describe(exchange))
}

type Wanted = Array<[name: string, value: RegExp, details?: Details]>

const EVERYWHERE: Wanted = [
  ['Cache-Control', /\bno-store\b/i],
  ['Content-Encoding', /^$/],
  [
    'Access-Control-Allow-Origin',
    /^$/,
    { fix: 'Something adds CORS headers, which let pages of other sites read the response: exempt /oauth/*.' }
  ]
]

const AT_AUTHORIZE: Wanted = [
  ['Referrer-Policy', /(?:no-referrer|origin)$/i, { severity: 'should' }],
  ['Content-Security-Policy', /frame-ancestors '(?:none|self)'/i, { severity: 'should' }]
]

/** A page of the host's own, for a refusal, ends no sign-in that uses a popup. */
const OF_REDIRECTS: Wanted = [
  [
    'Cross-Origin-Opener-Policy',
    /^(?:unsafe-none)?$/i,
    {
      severity: 'should',
      fix: 'It breaks portals that sign in by a popup: leave it off the redirects of /oauth/authorize.'
    }
  ]
]

/** A refusal of the plugin, a code, a token or a record. */
const isOfPlugin = (exchange: Exchange): boolean =>
  reasonsOf(exchange).length > 0 ||
  hasCode(exchange) ||
  /"(?:access_token|external_id)"/.test(String(exchange.response?.body))

async function headersArrive (subject: Subject): Promise<void> {
  await subject.askJson({ client_id: undefined }, [['Origin', 'https://attacker.example']])
  const responses = subject.seen.filter(isOfPlugin)
  const atAuthorize = responses.filter(({ request: { url } }) => url.startsWith(subject.integration.authorizeUrl))
  expectHeaders(responses, EVERYWHERE)
  expectHeaders(atAuthorize, AT_AUTHORIZE)
  expectHeaders(atAuthorize.filter((exchange) => isRedirect(statusOf(exchange))), OF_REDIRECTS)
}

function expectHeaders (responses: Exchange[], wanted: Wanted): void {
  for (const [name, pattern, details] of wanted) {
    for (const exchange of responses) {
      const value = header(exchange.response, name.toLowerCase())
      expect(pattern.test(value), `${nameOf(exchange)}: ${name}: ${value || 'none'}`, details)
    }
  }
}

/** Refusals that were provoked: their status, headers and body, as the plugin sends them. */
async function refusalsArrive (subject: Subject): Promise<void> {
  const grant = { code: 'c'.repeat(43) }
  expectRefusal(await subject.redeem(grant), 'code_unknown')
  expectRefusal(await subject.user('t'.repeat(43)), 'token_unknown')
  expectRefusal(await subject.redeem(grant, subject.wrongSecret), 'client_secret_wrong')
}

function expectRefusal ({ exchange }: Leg<unknown>, reason: keyof typeof refusals): void {
  const { error, description, status } = refusals[reason]
  const wanted = `${status} ${JSON.stringify({ error, error_description: description })}`
  const isSame = `${statusOf(exchange)} ${exchange.response?.body}` === wanted
  expect(isSame, `${nameOf(exchange)}: ${quoted(exchange)}, and not exactly ${wanted}`)
  expectHeaders(
    [exchange],
    [
      ['Content-Type', /^application\/json/i],
      ['WWW-Authenticate', status === 401 ? /./ : /^$/]
    ]
  )
}
