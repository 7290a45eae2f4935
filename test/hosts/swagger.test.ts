// @fastify/swagger: our routes are in the document of the host.
import swagger from '@fastify/swagger'
import t from 'tap'
import type { Test } from 'tap'
import { UserInformation } from '../../lib/index.ts'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { signsIn } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

/** What the document says of the routes, by method and path. */
async function operationsOf (t: Test, overrides: Partial<PartnerSsoOptions<User>> = {}): Promise<Record<string, any>> {
  const openapi = { openapi: '3.1.0', info: { title: 'A partner', version: '1.0.0' } }
  const { app, url } = await startHost(t, overrides, { prepare: (app) => app.register(swagger, { openapi }) })
  await signsIn(t, wire(`${url}${overrides.prefix ?? ''}`))
  const { paths } = JSON.parse(JSON.stringify(app.swagger()))
  const operations = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation]))
  return Object.fromEntries(operations)
}

const ROUTES = ['get /oauth/authorize', 'post /oauth/token', 'get /oauth/user']
const QUERY = [
  'client_id', 'redirect_uri', 'response_type', 'state', 'scope?', 'code_challenge?', 'code_challenge_method?'
]
const FORM = ['grant_type', 'code', 'redirect_uri', 'client_id?', 'client_secret?', 'code_verifier?']

/** The names of properties, those that may be absent with a question mark. */
const namesOf = ({ properties, required }: any): string[] =>
  Object.keys(properties).map((name) => required.includes(name) ? name : `${name}?`)

/** The names of parameters. */
const parametersOf = ({ parameters }: any): string[] =>
  parameters.map(({ name, required = false }: any) => required ? name : `${name}?`)

const schemaOf = ({ content }: any, type = 'application/json') => content[type].schema

t.test('what each route takes and sends', async (t) => {
  const operations = await operationsOf(t)
  t.strictSame(Object.keys(operations), ROUTES)
  const [authorize, token, user] = Object.values(operations)
  t.strictSame(parametersOf(authorize), QUERY)
  t.strictSame(authorize.parameters.flatMap(({ schema }: any) => schema.enum ?? []), ['code', 'S256'])
  t.strictSame(namesOf(schemaOf(token.requestBody, 'application/x-www-form-urlencoded')), FORM)
  t.strictSame(parametersOf(user), ['authorization'])
  t.strictSame(namesOf(schemaOf(token.responses[200])), ['token_type', 'access_token'])
  t.strictSame(schemaOf(user.responses[200]).anyOf.map(namesOf), UserInformation.anyOf.map(namesOf))
  t.ok(authorize.responses[302])
  for (const [route, { summary, description, responses }] of Object.entries(operations)) {
    const texts = [summary, description, ...Object.values<any>(responses).map(({ description }) => description)]
    for (const text of texts) t.match(text, /^(?!Default Response).{5,}/, route)
  }
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
