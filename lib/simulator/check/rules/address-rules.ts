import { redirectTarget } from '../../../testing/browser.ts'
import { describe } from '../../../testing/failure.ts'
import { fail, pass, type Rule, when } from './rule.ts'
import { type Bench } from './bench.ts'

const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether an address may be used: https, or http on this machine. */
export const safe = (address: string): boolean => {
  const { protocol, hostname } = new URL(address)
  return protocol !== 'http:' || LOOPBACK.test(hostname)
}

/** Where the endpoints are, and how they are reached. */
export const ADDRESS_RULES: Rule[] = [
  {
    id: 'address.endpoints',
    section: 'spec §1.6',
    severity: 'must',
    sentence: 'The three endpoints answer under the base URL.',
    fix: 'Check the base URL and the prefix; a proxy in front may strip or add a part of the path.',
    test: endpointsAnswer
  },
  {
    id: 'address.https',
    section: 'RFC 6749 §3.1, §3.2',
    severity: 'must',
    sentence: 'The endpoints are reached over https (http only on the own machine).',
    fix: 'Put TLS in front of the service and give the portal the https addresses.',
    test: async ({ portal }) => when(safe(portal.base.href), `the base URL is ${portal.base.href}`)
  },
  {
    id: 'address.redirect-uri-https',
    section: 'RFC 6749 §3.1.2.1',
    severity: 'should',
    sentence: 'The redirect_uri is https (http only on the own machine).',
    fix: 'Register the https address of the portal callback.',
    test: async ({ portal }) => when(safe(portal.redirectUri), `the redirect_uri is ${portal.redirectUri}`)
  },
  {
    id: 'address.no-downgrade',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'The browser is not sent to an http address.',
    fix: 'Let the application know that TLS ends in front of it (Fastify: trustProxy), or build redirects without scheme and host.',
    test: async (bench) => {
      const { exchange, url } = await bench.loginPage()
      const target = redirectTarget(exchange, url) ?? url
      return when(safe(target) || target.startsWith(bench.portal.base.origin), `a redirect to ${target}`)
    }
  }
]

async function endpointsAnswer (bench: Bench) {
  const { base, authorizeUrl, tokenUrl, userUrl, send } = bench.portal
  for (const [method, url] of [['GET', authorizeUrl], ['POST', tokenUrl], ['GET', userUrl]] as const) {
    const form = method === 'POST' ? { headers: [['Content-Type', 'application/x-www-form-urlencoded'] as const], body: 'grant_type=authorization_code' } : { headers: [] }
    const exchange = await send({ method, url, ...form })
    if (exchange.response?.status !== 404 && exchange.response?.status !== 405) continue
    return fail(`${method} ${new URL(url).pathname}: ${describe(exchange)}`, await elsewhere(base, url, method, send))
  }
  return pass
}

/** Looks where a proxy that strips or adds a path would have put the endpoint. */
async function elsewhere (base: URL, url: string, method: string, send: Bench['portal']['send']): Promise<string | undefined> {
  const name = url.slice(url.lastIndexOf('/'))
  for (const path of [`/oauth${name}`, `${base.pathname.replace(/\/$/, '')}${name}`]) {
    const other = new URL(path, base).href
    if (other === url) continue
    const { response } = await send({ method, url: other, headers: [] })
    if (response?.status !== 404 && response?.status !== 405) return `Something answers at ${other}: give that address, or correct the path that the proxy strips or adds.`
  }
  return undefined
}
