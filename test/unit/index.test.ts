// What registering the plugin gives Fastify, and what the package exports.
import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import t from 'tap'
import * as everything from '../../lib/index.ts'
import { pluginOptions, startApp } from '../app.ts'
import { inProcess } from '../wire.ts'

const { default: partnerSso } = everything

/** The routes that an app gets, as Fastify was given them. */
async function routesOf (options: object): Promise<RouteOptions[]> {
  const app = Fastify()
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => { routes.push(route) })
  await app.register(partnerSso, pluginOptions(options))
  await app.close()
  return routes
}

t.test('the names of the package', async (t) => {
  const { 'module.exports': ofCommonJs, ...names } = everything
  t.strictSame(Object.keys(names).sort(), ['UserInformation', 'default', 'partnerSso'])
  t.strictSame([names.partnerSso, ofCommonJs], [partnerSso, partnerSso])
  const { default: own, partnerSso: named, UserInformation } = partnerSso as unknown as typeof names
  t.strictSame([own, named, UserInformation], [partnerSso, partnerSso, names.UserInformation], 'as CommonJS sees them')
})

t.test('the routes, with a limit for bodies; none has a HEAD twin', async (t) => {
  const routes = await routesOf({ prefix: '/sso', routeOptions: { bodyLimit: undefined } as object })
  t.strictSame(routes.map(({ method, url, bodyLimit }) => [method, url, bodyLimit]), [
    ['GET', '/sso/oauth/authorize', 16_384],
    ['POST', '/sso/oauth/token', 16_384],
    ['GET', '/sso/oauth/user', 16_384],
    ['GET', '/sso/oauth/token', 16_384]
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
  const routeOptions = { async preValidation (request: FastifyRequest) { request.body = { code: 'x' } } }
  const { app, events } = await startApp(t, { options: { routeOptions } })
  await inProcess(app).token()
  t.match(events, [{ reason: 'content_type_unsupported' }])
})

t.test('the prefix of a scope around the plugin has no parameter', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const scope = async (scope: FastifyInstance) => { await scope.register(partnerSso, pluginOptions()) }
  await t.rejects(async () => await app.register(scope, { prefix: '/:tenant' }), /"prefix" must be a path without/)
})

t.test('a route that exists twice: the plugin is named, whichever of the two comes first', async (t) => {
  const message = /^partner-sso: the route GET \/sso\/oauth\/user already exists\. .* a "prefix" of its own$/
  const code = 'FST_PARTNER_SSO_ROUTE_EXISTS'
  const own = async () => 'own'
  const first = Fastify()
  t.teardown(() => first.close())
  first.get('/sso/oauth/user', own)
  for (const prefix of ['/sso', '/sso/']) {
    await t.rejects(async () => await first.register(partnerSso, pluginOptions({ prefix })), { message, code }, prefix)
  }
  const second = Fastify()
  t.teardown(() => second.close())
  await second.register(partnerSso, pluginOptions({ prefix: '/sso' }))
  t.throws(() => second.get('/sso/oauth/user', own), { message, code })
})
