// A proxy in front of the app that strips the public path: the host knows the path, and puts it back.
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { wire } from '../helpers/wire.ts'

t.test('trustProxy', async (t) => {
  const base = '/partner'
  const { url } = await startHost(t, {
    loginPage: (returnTo, { protocol, host }) =>
      `${protocol}://${host}${base}/login?return_to=${encodeURIComponent(base + returnTo)}`
  }, { server: { trustProxy: true } })
  const proxy = await httpServer(t, (request, response) => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'app.example' }
    const { method, headers } = request
    const options = { method, path: request.url?.replace(base, ''), headers: { ...headers, ...forwarded } }
    request.pipe(httpRequest(url, options, (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(response)
    }))
  })
  const portal = wire(proxy + base)
  await keepsContract(t, portal)
  const { headers } = await portal.authorize({}, null)
  t.match(headers.get('location'),
    /^https:\/\/app\.example\/partner\/login\?return_to=%2Fpartner%2Foauth%2Fauthorize%3F/)
})
