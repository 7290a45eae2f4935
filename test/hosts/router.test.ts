// Options of the host's router, and a proxy in front of the app.
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isRefused } from '../contract/replies.ts'
import { routerOptions } from '../helpers/fastify.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('exposeHeadRoutes, true and false', async (t) => {
  for (const exposeHeadRoutes of [true, false]) {
    const { url } = await startHost(t, {}, {
      server: { exposeHeadRoutes }, prepare: (app) => app.get('/own', async () => 'own')
    })
    await keepsContract(t, wire(url))
    t.equal((await wire(url).send('/own', { method: 'HEAD' })).status, exposeHeadRoutes ? 200 : 404)
  }
})

t.test('slashes and letter case that make no difference', async (t) => {
  const { url } = await startHost(t, {}, {
    server: routerOptions({ ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false })
  })
  await keepsContract(t, wire(url))
  // Paths may be spelled as the host allows; what is in the parameters is never changed.
  const respelled = (target: string) => target.replace(/\/oauth\/(\w+)/, '//OAuth/$1/')
  await keepsContract(t, wire(url, undefined, { fetch: async (target, init) => await fetch(respelled(target), init) }))
  const otherClient = await wire(url).authorize({ client_id: 'PARTNER-123' })
  isRefused(t, otherClient, 400, 'invalid_request', 'The client_id is not registered.')
  const otherUri = await wire(url).authorize({ redirect_uri: 'https://portal.example/oauth/callback/' })
  isRefused(t, otherUri, 400, 'invalid_request', 'The redirect_uri is not the registered one.')
})

t.test('without that, the paths are the ones of the contract', async (t) => {
  const { url } = await startHost(t)
  for (const path of ['/oauth/user/', '/OAuth/user', '//oauth/user']) t.equal((await wire(url).send(path)).status, 404)
})

t.test('useSemicolonDelimiter', async (t) => {
  const { url } = await startHost(t, {}, { server: routerOptions({ useSemicolonDelimiter: true } as object) })
  await keepsContract(t, wire(url))
})

t.test('constraints of the host', async (t) => {
  const { url } = await startHost(t, { routeOptions: { constraints: { version: '2.0.0' } } })
  const versioned = (init: RequestInit) => ({ ...init, headers: { ...init.headers, 'accept-version': '2.x' } })
  await keepsContract(t, wire(url, undefined, { fetch: async (target, init) => await fetch(target, versioned(init)) }))
  t.equal((await wire(url).user('x')).status, 404)
})

t.test('rewriteUrl', async (t) => {
  const { url } = await startHost(t, { loginPage: '/login' }, {
    server: { rewriteUrl: ({ url = '' }) => url.replace(/^\/partner\//, '/') }
  })
  await keepsContract(t, wire(`${url}/partner`))
  const { headers } = await wire(`${url}/partner`).authorize({}, null)
  t.match(headers.get('location'), /^\/login\?return_to=%2Fpartner%2Foauth%2Fauthorize%3F/,
    'return_to is the URL that the browser requested')
})

t.test('trustProxy, behind a proxy that strips the path', async (t) => {
  const base = '/partner'
  const { url, app } = await startHost(t, {
    // The app does not see the public path. The host knows it, and puts it back.
    loginPage: (returnTo, { protocol, host }) =>
      `${protocol}://${host}${base}/login?return_to=${encodeURIComponent(base + returnTo)}`
  }, { server: { trustProxy: true } })
  const proxy = createServer((request, response) => {
    const headers = {
      ...request.headers,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'app.example',
      'x-forwarded-for': '203.0.113.9'
    }
    const path = request.url?.replace(base, '')
    request.pipe(httpRequest(url, { method: request.method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    }))
  }).listen(0, '127.0.0.1')
  // As the app behind it, whose Keep-Alive header it passes on.
  proxy.keepAliveTimeout = 72_000
  await new Promise((resolve) => proxy.once('listening', resolve))
  t.teardown(() => proxy.close())
  t.ok(app.server.listening)

  const portal = wire(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}${base}`)
  await keepsContract(t, portal)
  const { headers } = await portal.authorize({}, null)
  const loginPage = 'https://app.example/partner/login?return_to=%2Fpartner%2Foauth%2Fauthorize%3F'
  t.equal(headers.get('location')?.slice(0, loginPage.length), loginPage)
})
