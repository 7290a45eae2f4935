import { redirectTarget } from '../../../testing/browser.ts'
import { isSecure } from '../../../testing/cookies.ts'
import { describe } from '../../../testing/failure.ts'
import { type Exchange, header, statusOf, type WireRequest } from '../../../testing/wire.ts'
import { type Bench, NoAnswer } from './bench.ts'
import { fail, pass, type Rule, type Verdict, when } from './rule.ts'

/** Where the endpoints are, and how they are reached. */
export const ADDRESS_RULES: Rule[] = [
  {
    id: 'address.endpoints',
    section: 'addresses',
    severity: 'must',
    sentence: 'The three endpoints answer under the base URL.',
    fix: 'Check the base URL and the prefix; a proxy in front may strip or add a part of the path.',
    test: endpointsAnswer
  },
  {
    id: 'address.https',
    section: 'RFC 6749 §3.1, §3.2',
    severity: 'should',
    sentence: 'The endpoints are reached over https (http on this machine only).',
    fix: 'Put TLS in front of the service and give the portal the https addresses.',
    test: async ({ portal }) => when(isSecure(portal.base), `the base URL is ${portal.base.href}`)
  },
  {
    id: 'address.redirect-uri-https',
    section: 'RFC 6749 §3.1.2.1',
    severity: 'should',
    sentence: 'The redirect_uri is https (http on this machine only).',
    fix: 'Register the https address of the portal callback.',
    test: async ({ portal }) => when(isSecure(new URL(portal.redirectUri)), `the redirect_uri is ${portal.redirectUri}`)
  },
  {
    id: 'address.no-downgrade',
    section: 'RFC 6749 §3.1',
    severity: 'must',
    sentence: 'The browser is not sent to an http address.',
    fix: 'Let the application know that TLS ends in front of it (Fastify: trustProxy), ' +
      'or build redirects without scheme and host.',
    test: async (bench) => {
      const { base } = bench.portal
      const { exchange, url } = await bench.loginPage()
      const target = redirectTarget(exchange, url) ?? url
      if (isSecure(new URL(target)) || target.startsWith(base.origin)) return pass
      // Behind an http base URL there may be a network of its own, where http is meant.
      const severity = base.protocol === 'https:' ? 'must' : 'should'
      return fail(bench.secrets.mask(`a redirect to ${target}`), undefined, severity)
    }
  }
]

async function endpointsAnswer (bench: Bench): Promise<Verdict> {
  const { authorizeUrl, tokenUrl, userUrl } = bench.portal
  for (const [method, url] of [['GET', authorizeUrl], ['POST', tokenUrl], ['GET', userUrl]] as const) {
    const exchange = await ask(bench, method, url)
    if (exchange === null || !isAbsent(exchange, url === authorizeUrl)) continue
    return fail(`${method} ${new URL(url).pathname}: ${bench.told(exchange)}`, await elsewhere(bench, url, method))
  }
  return pass
}

/** A request without parameters; null when there is no answer, which is the subject of other rules. */
async function ask ({ portal: { send } }: Bench, method: string, url: string): Promise<Exchange | null> {
  const form: Pick<WireRequest, 'headers' | 'body'> = method === 'POST'
    ? { headers: [['Content-Type', 'application/x-www-form-urlencoded']], body: 'grant_type=authorization_code' }
    : { headers: [] }
  try {
    return await send({ method, url, ...form })
  } catch (error) {
    if (error instanceof NoAnswer) return null
    throw error
  }
}

/** 404, 405, or the page that an application shows for every address: no endpoint answers so. */
function isAbsent (exchange: Exchange, isPage: boolean): boolean {
  const status = statusOf(exchange)
  const isHtml = header(exchange.response, 'content-type').toLowerCase().startsWith('text/html')
  return status === 404 || status === 405 || (!isPage && status === 200 && isHtml)
}

/** Looks where a proxy that strips or adds a path would have put the endpoint. */
async function elsewhere (bench: Bench, url: string, method: string): Promise<string | undefined> {
  const { base } = bench.portal
  const name = url.slice(url.lastIndexOf('/'))
  for (const path of [`/oauth${name}`, `${base.pathname.replace(/\/$/, '')}${name}`]) {
    const other = new URL(path, base).href
    if (other === url) continue
    const exchange = await ask(bench, method, other)
    if (exchange === null || isAbsent(exchange, name === '/authorize') || statusOf(exchange) >= 500) continue
    return `Something answers at ${other} (${describe(exchange)}): give that address, ` +
      'or correct the path that the proxy strips or adds.'
  }
  return undefined
}
