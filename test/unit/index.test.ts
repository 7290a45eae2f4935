// What registering the plugin gives Fastify, and what the package exports.
import Fastify from 'fastify'
import type { FastifyInstance, RouteOptions } from 'fastify'
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
  // As CommonJS sees them.
  const { default: own, partnerSso: named, UserInformation } = partnerSso as unknown as Record<string, unknown>
  t.equal(own, partnerSso)
  t.equal(named, partnerSso)
  t.equal(UserInformation, everything.UserInformation)
})

t.test('the plugin is for Fastify 5 and has a name', async (t) => {
  const { [Symbol.for('plugin-meta')]: meta } = partnerSso as unknown as Record<symbol, object>
  t.match(meta, { name: 'fastify-partner-sso', fastify: '5.x' })
})

t.test('three routes, no twin for HEAD, and a limit for bodies', async (t) => {
  const routes = await routesOf({ prefix: '/sso' })
  t.strictSame(routes.map(({ method, url }) => [method, url]),
    [['GET', '/sso/oauth/authorize'], ['POST', '/sso/oauth/token'], ['GET', '/sso/oauth/user']])
  for (const { bodyLimit, exposeHeadRoute } of routes) {
    t.equal(bodyLimit, 16_384)
    t.equal(exposeHeadRoute, false)
  }
})

t.test('hooks and handlers have names, for traces', async (t) => {
  const hooks = (await routesOf({})).map(({ handler, errorHandler, preParsing, onSend }) =>
    [handler, errorHandler, ...[preParsing ?? []].flat(), ...[onSend ?? []].flat()].map((hook) => hook?.name))
  t.strictSame(hooks, [
    ['partnerSsoAuthorize', 'partnerSsoAuthorizeError', 'partnerSsoAuthorizeOnSend'],
    ['partnerSsoToken', 'partnerSsoTokenError', 'partnerSsoPreParsing', 'partnerSsoOnSend'],
    ['partnerSsoUser', 'partnerSsoUserError', 'partnerSsoOnSend']
  ])
})

t.test('what the host gives with routeOptions is kept, and ours stands behind it', async (t) => {
  const onSend = [async () => {}, async () => {}]
  const routeOptions = { bodyLimit: 9999, config: { own: true }, exposeHeadRoute: true, onSend, handlerTimeout: 123 }
  const [route] = await routesOf({ routeOptions }) as [RouteOptions]
  t.match(route, { bodyLimit: 9999, config: { own: true }, exposeHeadRoute: false, handlerTimeout: 123 })
  t.strictSame((route.onSend as unknown[]).slice(0, 2), onSend)
  t.equal((route.onSend as unknown[]).length, 3)
  const [alone] = await routesOf({ routeOptions: { onSend: onSend[0] } }) as [RouteOptions]
  t.equal((alone.onSend as unknown[]).length, 2, 'one hook, not in a list')
})

t.test('a route that already exists', async (t) => {
  const app: FastifyInstance = Fastify()
  app.get('/sso/oauth/user', async () => 'own')
  const error: Error = await app.register(partnerSso, hostOptions({ prefix: '/sso' }))
    .then(() => new Error('It registered'), (error) => error)
  await app.close()
  t.match(error.message, /^partner-sso: the route GET \/sso\/oauth\/user already exists\. Where /)
  t.match(error.message, / give each registration a "prefix" of its own$/)
  t.match(error.cause, { code: 'FST_ERR_DUPLICATED_ROUTE' })
})

t.test('an error of Fastify for another reason stays as it is', async (t) => {
  const app: FastifyInstance = Fastify()
  t.teardown(() => app.close())
  const options = hostOptions({ routeOptions: { bodyLimit: -1 } })
  const code = 'FST_ERR_ROUTE_BODY_LIMIT_OPTION_NOT_INT'
  await t.rejects(async () => await app.register(partnerSso, options), { code })
})

t.test('forms are read here, and nothing else', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(partnerSso, hostOptions())
  const post = async (type: string): Promise<string> => {
    const headers = { 'content-type': type }
    const answer = await app.inject({ method: 'POST', url: '/oauth/token', headers, payload: '{}' })
    return answer.json().error_description
  }
  t.match(await post('application/x-www-form-urlencoded'), /grant_type/)
  for (const type of ['application/json', 'text/plain', 'a/b']) t.match(await post(type), /form-urlencoded/, type)
})

t.test('the scope has a name, for traces and printPlugins()', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const names: string[] = []
  app.addHook('onRoute', function () { names.push(this.pluginName) })
  await app.register(partnerSso, hostOptions({ name: 'another' } as object))
  await app.ready()
  t.strictSame(new Set(names.map((name) => name.split(' -> ')[0])), new Set(['fastify-partner-sso']))
  const plugins = app.printPlugins().split('\n').filter((line) => line.includes('fastify-partner-sso'))
  t.equal(plugins.length, 2, 'the plugin, and the scope in it')
  t.notMatch(app.printPlugins(), /=>|async|addEndpoints/, 'nothing without a name')
})
