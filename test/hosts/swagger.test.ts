// @fastify/swagger: our routes are in the document of the host.
import swagger from '@fastify/swagger'
import t from 'tap'
import type { Test } from 'tap'
import { UserInformation } from '../../lib/index.ts'
import { signsIn } from '../contract/keeps-contract.ts'
import { startApp } from '../app.ts'
import type { Options } from '../app.ts'
import { wire } from '../wire.ts'

/** What the document says of the routes, by method and path. */
async function operationsOf (t: Test, overrides: Options = {}): Promise<Record<string, any>> {
  const openapi = { openapi: '3.1.0', info: { title: 'A partner', version: '1.0.0' } }
  const { app, url } = await startApp(t, {
    login: false,
    options: overrides,
    prepare: (app) => app.register(swagger, { openapi })
  })
  await signsIn(t, wire(`${url}${overrides.prefix ?? ''}`))
  const { paths } = JSON.parse(JSON.stringify(app.swagger()))
  const operations = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation]))
  return Object.fromEntries(operations)
}

const ROUTES = ['get /oauth/authorize', 'post /oauth/token', 'get /oauth/user']
const QUERY = ['client_id', 'redirect_uri', 'response_type', 'state']
const OPTIONAL = ['scope?', 'code_challenge?', 'code_challenge_method?']
const FORM = ['grant_type', 'code', 'redirect_uri']
const CREDENTIALS = ['client_id', 'client_secret', 'code_verifier']

t.test('what each route takes and sends', async (t) => {
  const operations = await operationsOf(t)
  t.strictSame(Object.keys(operations), ROUTES)
  t.notMatch(JSON.stringify(operations), 'Default Response')
  for (const [route, operation] of Object.entries(operations)) {
    t.match(operation, { summary: /.{5}/, description: /.{5}/ }, route)
  }
  const [authorize, token, user] = Object.values(operations)
  const names = authorize.parameters.map(({ name, required }: any) => required ? name : `${name}?`)
  t.strictSame(names, [...QUERY, ...OPTIONAL])
  t.ok(authorize.responses[302])

  const { schema: form } = token.requestBody.content['application/x-www-form-urlencoded']
  t.strictSame([form.required, Object.keys(form.properties)], [FORM, [...FORM, ...CREDENTIALS]])
  const sent = ({ responses }: any) => responses[200].content['application/json'].schema
  t.strictSame(sent(token).required, ['token_type', 'access_token'])
  t.match(user.parameters, [{ in: 'header', name: 'authorization', required: true }])
  t.match(sent(user).anyOf, UserInformation.anyOf.map(({ required }) => ({ required })))
})

t.test('what the host adds, and a prefix', async (t) => {
  const schema = { tags: ['Portal'], summary: 'Single sign-on' }
  const operations = await operationsOf(t, { prefix: '/partner', routeOptions: { schema } })
  t.strictSame(Object.keys(operations), ROUTES.map((route) => route.replace(' ', ' /partner')))
  for (const [route, operation] of Object.entries(operations)) {
    t.match(operation, { ...schema, description: /./ }, route)
  }
})

t.test('hidden by the host, or not: GET of the token, which is refused, stays hidden', async (t) => {
  for (const [hide, routes] of [[true, []], [false, ROUTES]] as const) {
    t.strictSame(Object.keys(await operationsOf(t, { routeOptions: { schema: { hide } } })), routes, String(hide))
  }
})
