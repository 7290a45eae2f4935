import { codeOf } from '../flow/browser.ts'
import { describe, oauthError } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, isRedirect, jsonObject, statusOf } from '../flow/wire.ts'
import { refusals } from '../errors.ts'
import { expectUnframed, listOf } from './headers.ts'
import type { Rule } from './rule.ts'
import { advise, expect, Failed } from './rule.ts'
import type { Subject } from './subject.ts'
import { quoted } from './voice.ts'

/** Does something change responses on the way? */
export const FRONT: readonly Rule[] = [
  {
    id: 'service.headers',
    severity: 'must',
    sentence: 'The headers that protect the plugin’s responses arrive.',
    fix: 'Something behind the plugin, a proxy or a header set on the raw response, changes its headers: leave them.',
    test: headersArrive
  },
  {
    id: 'service.no-cache',
    severity: 'must',
    sentence: 'No response of the plugin comes from a cache.',
    fix: 'Exempt /oauth/* from every cache in front (CDN, proxy_cache, a hook): the plugin sends no-store.',
    test: nothingIsCached
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
    severity: 'must',
    sentence: 'A rate limit lets right requests pass: the portal’s servers have few addresses.',
    fix:
      'Set the limit of /oauth/token and /oauth/user far above the sign-ins of a minute, also where a limit is ' +
      'global; behind a proxy set trustProxy, or all people share one address.',
    // A limit that is met ends the check where it is met.
    test: async () => {}
  },
  {
    id: 'authorize.foreign-redirect-uri',
    severity: 'must',
    sentence: 'A redirect_uri that is not registered is refused, and nobody is redirected there.',
    fix: 'A hook, an error handler or a proxy changes the plugin’s refusal: leave it as it is.',
    isSanity: true,
    test: async (subject) => {
      const changes = { redirect_uri: 'https://attacker.example/oauth/callback' }
      await isRefusedHere(subject, changes)
    }
  },
  {
    id: 'authorize.unknown-client',
    severity: 'must',
    sentence: 'An unknown client_id is refused, and nobody is redirected.',
    fix: 'A hook, an error handler or a proxy changes the plugin’s refusal: leave it as it is.',
    isSanity: true,
    test: (subject) => isRefusedHere(subject, { client_id: 'nobody-registered-this' })
  },
  {
    id: 'authorize.error-redirect',
    severity: 'must',
    sentence: 'Other refusals reach the portal by redirect, with error and state.',
    fix: 'A hook or a proxy changes the plugin’s redirect: leave it as it is.',
    isSanity: true,
    test: async (subject) => {
      const arrival = await subject.authorize(await anyBrowser(subject), { response_type: 'token' })
      const got = describe(arrival.exchange)
      expect(codeOf(arrival) === null, 'a code, for response_type=token')
      if (arrival.at !== 'callback') throw new Failed(got)
      const { searchParams } = new URL(arrival.callbackUrl)
      expect(searchParams.get('error') === 'unsupported_response_type' && searchParams.has('state'), got)
    }
  }
]

const anyBrowser = async (subject: Subject) =>
  subject.options.users.length === 0 ? subject.browserOf() : (await subject.session()).browser

async function isRefusedHere (subject: Subject, changes: Record<string, string>): Promise<void> {
  const exchange = await subject.ask(await anyBrowser(subject), changes)
  expect(!isRedirect(statusOf(exchange)), describe(exchange))
}

const SENT: Array<[name: string, fits: (value: string) => boolean]> = [
  ['cache-control', (value) => listOf(value).includes('no-store')],
  ['content-encoding', (value) => value === '']
]

const nameOf = ({ request: { method, url } }: Exchange): string => `${method} ${new URL(url).pathname}`

async function headersArrive (subject: Subject): Promise<void> {
  const origin = [['Origin', 'https://attacker.example']] as const
  await subject.user('t'.repeat(43), (request) => ({ ...request, headers: [...request.headers, ...origin] }))
  const {
    integration: { authorizeUrl }
  } = subject
  const responses = subject.ofPlugin()
  for (const exchange of responses) {
    for (const [name, fits] of SENT) {
      const value = header(exchange.response, name)
      expect(fits(value), `${nameOf(exchange)}: ${value === '' ? `no ${name}` : `${name}: ${value}`}`)
    }
    const cors = header(exchange.response, 'access-control-allow-origin')
    expect(cors === '', `${nameOf(exchange)}: Access-Control-Allow-Origin: ${cors}`, {
      fix: 'Something adds CORS headers, which let pages of other sites read the response: exempt /oauth/*.'
    })
  }
  for (const exchange of responses.filter(({ request }) => request.url.startsWith(`${authorizeUrl}?`))) {
    const policy = String(listOf(header(exchange.response, 'referrer-policy')).at(-1))
    advise(
      !['', 'undefined', 'unsafe-url', 'no-referrer-when-downgrade'].includes(policy),
      `${nameOf(exchange)}: Referrer-Policy: ${policy}`
    )
    const opener = header(exchange.response, 'cross-origin-opener-policy')
    // The plugin sets it on its redirects: a page of its own that is shown ends no popup's sign-in.
    advise(
      !isRedirect(statusOf(exchange)) || /^(?:unsafe-none)?$/.test(opener),
      `${nameOf(exchange)}: Cross-Origin-Opener-Policy: ${opener}`,
      'It breaks portals that sign in by a popup: leave it off the redirects of /oauth/authorize.'
    )
    try {
      expectUnframed(exchange)
    } catch (error) {
      advise(false, `${nameOf(exchange)}: ${(error as Error).message}`)
    }
  }
}

/** The same request twice: of a cache the second response is a copy. */
async function nothingIsCached (subject: Subject): Promise<void> {
  const browser = await anyBrowser(subject)
  const url = subject.authorizeUrl()
  const [one, other] = [await browser.request(url, 'GET'), await browser.request(url, 'GET')].map(
    ({ response }) => /[?&]code=([^&]*)/.exec(header(response, 'location'))?.[1]
  )
  expect(one === undefined || one !== other, 'two authorization requests get the same code')
}

/** Refusals that were provoked: their status, type, error and challenge, as the plugin sends them. */
async function refusalsArrive (subject: Subject): Promise<void> {
  const unknown = await subject.redeem({ code: 'c'.repeat(43) })
  arrives(unknown.exchange, 'code_unknown')
  const token = await subject.user('t'.repeat(43))
  arrives(token.exchange, 'token_unknown')
  const credentials = await subject.redeem(
    { code: 'c'.repeat(43) },
    { clientSecret: subject.wrongSecret }
  )
  arrives(credentials.exchange, 'client_secret_wrong')
}

function arrives (exchange: Exchange, reason: keyof typeof refusals): void {
  const { error, status } = refusals[reason]
  const { response } = exchange
  const got = `${nameOf(exchange)}: ${quoted(exchange)}, and not ${status} with ${error}`
  expect(statusOf(exchange) === status && oauthError(response) === error, got)
  expect(
    /^application\/json/i.test(header(response, 'content-type')),
    `${nameOf(exchange)}: Content-Type: ${header(response, 'content-type')}`
  )
  expect(
    status !== 401 || header(response, 'www-authenticate') !== '',
    `${nameOf(exchange)}: 401 without WWW-Authenticate`
  )
  const others = Object.keys(jsonObject(response) as object).filter(
    (name) => !['error', 'error_description'].includes(name)
  )
  expect(others.length === 0, `${nameOf(exchange)}: ${others.join(', ')} added to the refusal`)
}
