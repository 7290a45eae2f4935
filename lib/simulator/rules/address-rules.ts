import { targetOf } from '../../flow/browser.ts'
import { isSecure } from '../../flow/cookies.ts'
import { describe } from '../../flow/failure.ts'
import { authorizeUrl, tokenRequest, userRequest } from '../../flow/requests.ts'
import type { Integration } from '../../flow/integration.ts'
import type { Exchange, WireRequest } from '../../flow/wire.ts'
import { header, statusOf } from '../../flow/wire.ts'
import { Failed, Inconclusive, Stop } from './errors.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import type { Service } from './service.ts'

/** How the endpoints are reached. */
export const ADDRESS_RULES: readonly Rule[] = [
  {
    id: 'address.endpoints',
    section: 'addresses',
    severity: 'must',
    sentence: 'The three endpoints respond under the base URL.',
    fix: 'Check the base URL and the prefix; a proxy in front may strip or add a part of the path.',
    isPrerequisite: true,
    async test (service) {
      for (const complete of completeRequests(service.integration)) {
        const bare = withoutParameters(complete)
        const exchange = await ask(service, bare)
        if (exchange === null || !isAbsent(exchange)) continue
        // A service may respond with 404 to an unknown client.
        const whole = await ask(service, complete)
        if (whole === null || !isAbsent(whole)) continue
        const got = `${bare.method} ${new URL(bare.url).pathname}: ${describe(exchange)}`
        throw new Failed(got, await elsewhere(service, bare))
      }
    }
  },
  {
    id: 'address.https',
    section: 'RFC 6749 §3.1, §3.2',
    severity: 'should',
    sentence: 'The endpoints are reached over https (http on this machine only).',
    fix: 'Put TLS in front of the service and give the portal the https addresses.',
    test: async ({ integration: { base } }) =>
      expect(isSecure(base), `the base URL is ${base.href}`)
  },
  {
    id: 'address.redirect-uri-https',
    section: 'RFC 6749 §3.1.2.1',
    severity: 'should',
    sentence: 'The redirect_uri is https (http on this machine only).',
    fix: 'Register the https address of the portal callback.',
    test: async ({ integration: { redirectUri: uri } }) =>
      expect(isSecure(new URL(uri)), `the redirect_uri is ${uri}`)
  },
  {
    id: 'address.no-downgrade',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'The browser is not sent to an http address.',
    fix:
      'Let the application know that TLS ends in front of it (Fastify: trustProxy), ' +
      'or build redirects without scheme and host.',
    async test (service) {
      const { base } = service.integration
      const arrival = await service.loggedOut()
      const target = targetOf(arrival) ?? arrival.url
      const isKept = isSecure(new URL(target)) || target.startsWith(base.origin)
      // A service with an http base URL may be in a private network, where http is intended.
      expect(
        isKept, `a redirect to ${target}`, undefined, base.protocol === 'https:' ? 'must' : 'should'
      )
    }
  }
]

const FORM = {
  headers: [['Content-Type', 'application/x-www-form-urlencoded'] as const],
  body: 'grant_type=authorization_code'
}

/** Requests that need no user, no issued code and no issued token. */
const completeRequests = (integration: Integration): WireRequest[] => [
  { method: 'GET', url: authorizeUrl(integration, 'the-state'), headers: [] },
  tokenRequest(integration, 'an-unknown-code'),
  userRequest(integration, 'an-unknown-token')
]

/** Without secrets, so that it may be sent to any address of the service. */
const withoutParameters = ({ method, url }: WireRequest): WireRequest =>
  ({ method, url: url.split('?')[0] as string, ...method === 'POST' ? FORM : { headers: [] } })

/**
 * Null without a usable response: other rules test that.
 *
 * @throws Stop when not even the authorization endpoint responds
 */
function ask ({ integration }: Service, request: WireRequest): Promise<Exchange | null> {
  return integration.send(request).catch((error: unknown) => {
    if (!(error instanceof Inconclusive)) throw error
    if (request.url === integration.authorizeUrl) throw new Stop(error.sentence)
    return null
  })
}

/** Whether it is 404, 405, or the page that an application shows for every address. */
function isAbsent (exchange: Exchange): boolean {
  const status = statusOf(exchange)
  const isPage = header(exchange.response, 'content-type').toLowerCase().startsWith('text/html')
  const mayBePage = new URL(exchange.request.url).pathname.endsWith('/authorize')
  return status === 404 || status === 405 || (status === 200 && isPage && !mayBePage)
}

/** Prefixes under which services often register their endpoints. */
const PREFIXES = [
  '', '/api', '/api/v1', '/v1', '/sso', '/partner', '/partner-sso', '/portal', '/auth', '/app'
]

/** Looks for the endpoint where a proxy, or a prefix that the base URL lacks, would put it. */
async function elsewhere (
  service: Service, { url, ...request }: WireRequest
): Promise<string | undefined> {
  const { base } = service.integration
  const name = url.slice(url.lastIndexOf('/'))
  const path = base.pathname.replace(/\/$/, '')
  const folders = [
    path, ...['', path].flatMap((start) => PREFIXES.map((prefix) => `${start}${prefix}/oauth`))
  ]
  for (const folder of new Set(folders)) {
    const other = new URL(folder + name, base).href
    const exchange = other === url ? null : await ask(service, { ...request, url: other })
    if (exchange === null || isAbsent(exchange) || statusOf(exchange) >= 500) continue
    const found = other.slice(0, -name.length).replace(/\/oauth$/, '')
    return `The endpoint was found at ${other} (${describe(exchange)}): ` +
      `give ${found} as the base URL, or correct the path that the proxy strips or adds.`
  }
  return undefined
}
