// What registering the plugin gives Fastify, and what the package exports.
import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import t from 'tap'
import * as everything from '../../lib/index.ts'
import { hostOptions } from '../helpers/host.ts'

const { default: partnerSso } = everything

/** The routes that an app gets, as Fastify was given them. */
async function routesOf (options: object): Promise<RouteOptions[]> {
  const app = Fastify()
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => { routes.push(route) })
  await app.register(partnerSso, hostOptions(options))
  await app.close()
  return routes
}

t.test('the names of the package', async (t) => {
  t.strictSame(Object.keys(everything).sort(), ['UserInformation', 'default', 'module.exports', 'partnerSso'])
  t.equal(everything.partnerSso, partnerSso)
  t.equal(everything['module.exports'], partnerSso)
  const { default: own, partnerSso: named, UserInformation } = partnerSso as unknown as Record<string, unknown>
  t.ok(own === partnerSso && named === partnerSso && UserInformation === everything.UserInformation,
    'as CommonJS sees them')
})

t.test('the routes with a limit for bodies; hooks and handlers have names, for traces', async (t) => {
  const routes = await routesOf({ prefix: '/sso', routeOptions: { bodyLimit: undefined } as object })
  const found = routes.map(({ method, url, bodyLimit, handler, errorHandler, preParsing, onSend }) => {
    const hooks = [handler, errorHandler, preParsing ?? [], onSend ?? []].flat()
    return [method, url, bodyLimit, ...hooks.map((hook) => hook?.name)]
  })
  t.strictSame(found, [
    ['GET', '/sso/oauth/authorize', 16_384, 'partnerSsoAuthorize', 'partnerSsoError', 'partnerSsoOnSend'],
    ['POST', '/sso/oauth/token', 16_384, 'partnerSsoToken', 'partnerSsoError', 'partnerSsoPreParsing',
      'partnerSsoOnSend'],
    ['GET', '/sso/oauth/user', 16_384, 'partnerSsoUser', 'partnerSsoError', 'partnerSsoOnSend'],
    ['GET', '/sso/oauth/token', 16_384, 'partnerSsoWrongMethod', 'partnerSsoError', 'partnerSsoOnSend']
  ])
})

t.test('what the host gives with routeOptions is kept, and our hooks come after its own', async (t) => {
  const own = async () => {}
  const routeOptions = { bodyLimit: 9999, config: { own: true }, onSend: [own], preParsing: own }
  const [, token] = await routesOf({ routeOptions })
  t.match(token, { bodyLimit: 9999, config: { own: true } })
  const hooks = [token?.onSend, token?.preParsing] as unknown[][]
  t.strictSame(hooks.map((hooks) => [hooks[0], hooks.length]), [[own, 2], [own, 2]])
})

t.test('a form that a hook of the host has replaced is not read', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const routeOptions = { async preValidation (request: FastifyRequest) { request.body = { code: 'x' } } }
  await app.register(partnerSso, hostOptions({ routeOptions }))
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { statusCode, json } = await app.inject({ method: 'POST', url: '/oauth/token', headers, payload: 'code=x' })
  t.strictSame([statusCode, json().error], [400, 'invalid_request'])
})

t.test('a route that exists twice: the plugin is named, whichever of the two comes first', async (t) => {
  const message = /^partner-sso: the route GET \/sso\/oauth\/user already exists\. .* a "prefix" of its own$/
  const own = (app: FastifyInstance) => app.get('/sso/oauth/user', async () => 'own')
  const first = Fastify()
  t.teardown(() => first.close())
  own(first)
  await t.rejects(async () => await first.register(partnerSso, hostOptions({ prefix: '/sso' })), { message })
  await t.rejects(async () => await first.register(partnerSso, hostOptions({ prefix: '/sso/' })), { message }, '/')
  const second: FastifyInstance = Fastify()
  t.teardown(() => second.close())
  await second.register(partnerSso, hostOptions({ prefix: '/sso' }))
  t.throws(() => own(second), { message })
  await t.rejects(async () => await second.register(partnerSso, hostOptions({ prefix: '/sso' })), { message: /exists/ })
  const root: FastifyInstance = Fastify()
  t.teardown(() => root.close())
  root.get('/oauth/user', async () => 'own')
  await t.rejects(async () => await root.register(partnerSso, hostOptions({ prefix: '/' })), { message: /exists/ })
  t.doesNotThrow(() => second.post('/sso/oauth/user', async () => 'another method'))
  t.doesNotThrow(() => second.get('/sso/oauth/user', { constraints: { host: 'other' } }, async () => 'another host'))
})

t.test('the plugin and its scope have names, for traces and printPlugins()', async (t) => {
  const { [Symbol.for('plugin-meta')]: meta } = partnerSso as unknown as Record<symbol, object>
  t.match(meta, { name: 'fastify-partner-sso', fastify: '5.x' })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(partnerSso, hostOptions({ name: 'another' } as object))
  await app.ready()
  const plugins = app.printPlugins().split('\n').filter((line) => line.includes('fastify-partner-sso'))
  t.equal(plugins.length, 2, 'the plugin, and the scope in it')
  t.notMatch(app.printPlugins(), /=>|async|addEndpoints/, 'nothing without a name')
})
