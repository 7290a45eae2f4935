// @fastify/swagger: our routes are in the document of the host.
import swagger from '@fastify/swagger'
import type { SwaggerOptions } from '@fastify/swagger'
import t from 'tap'
import type { Test } from 'tap'
import { UserInformation } from '../../lib/index.ts'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { signsIn } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const info = { title: 'A partner', version: '1.0.0' }

async function documentOf (
  t: Test,
  options: SwaggerOptions,
  overrides: Partial<PartnerSsoOptions<User>> = {}
): Promise<any> {
  const { app, url } = await startHost(t, overrides, { prepare: (app) => app.register(swagger, options) })
  if (overrides.prefix === undefined) await signsIn(t, wire(url))
  return JSON.parse(JSON.stringify(app.swagger()))
}

const names = (parameters: Array<{ in: string, name: string, required?: boolean }>) =>
  parameters.map(({ in: place, name, required = false }) => `${place} ${name}${required ? '' : '?'}`)
const query = [
  'query client_id', 'query redirect_uri', 'query response_type', 'query state', 'query scope?',
  'query code_challenge?', 'query code_challenge_method?'
]
const FORM = 'application/x-www-form-urlencoded'
const formNames = ['grant_type', 'code', 'redirect_uri', 'client_id', 'client_secret', 'code_verifier']

const schemaOf = (body: any, type = 'application/json') => body.content[type].schema

const OPERATIONS = [['/oauth/authorize', ['get']], ['/oauth/token', ['post']], ['/oauth/user', ['get']]]

/** What a document says of an operation: of each response its content. */
const outlineOf = ({ parameters = [], requestBody = { content: {} }, responses }: any) => ({
  parameters: names(parameters),
  body: Object.keys(requestBody.content),
  responses: Object.entries<any>(responses).map(([status, { content = {} }]) =>
    [status, ...Object.keys(content)].join(' '))
})

function isDocumented (t: Test, { paths }: any): void {
  const described = Object.entries<object>(paths).filter(([url]) => url.startsWith('/oauth/'))
  const operations = described.map(([url, methods]) => [url, Object.keys(methods)])
  t.strictSame(operations, OPERATIONS, 'GET of the token, which is refused, is hidden')
  const [authorize, token, user] = described.flatMap(([, methods]) => Object.values(methods))
  t.match(outlineOf(authorize), { parameters: query, body: [], responses: ['302'] })
  t.strictSame(authorize.parameters.map(({ schema }: any) => schema.enum?.join()).filter(Boolean), ['code', 'S256'])
  t.strictSame(outlineOf(token), { parameters: [], body: [FORM], responses: ['200 application/json'] })
  t.strictSame(outlineOf(user), { parameters: ['header authorization'], body: [], responses: ['200 application/json'] })

  const form = schemaOf(token.requestBody, FORM)
  t.strictSame(form.required, ['grant_type', 'code', 'redirect_uri'])
  t.strictSame(Object.keys(form.properties), formNames)
  t.strictSame(schemaOf(token.responses[200]).required, ['token_type', 'access_token'])
  const kinds = ({ anyOf }: any) =>
    anyOf.map(({ required, properties }: any) => [required, properties.control_role.enum])
  t.strictSame(kinds(schemaOf(user.responses[200])), kinds(UserInformation))
  for (const { summary, description, responses } of [authorize, token, user]) {
    const texts = [summary, description, ...Object.values<any>(responses).map(({ description }) => description)]
    for (const text of texts) t.match(text, /^(?!Default Response).{5,}/, summary)
  }
}

t.test('OpenAPI 3.1', async (t) => isDocumented(t, await documentOf(t, { openapi: { openapi: '3.1.0', info } })))

t.test('what the host adds, and a prefix', async (t) => {
  const routeOptions = { schema: { tags: ['Portal'], summary: 'Single sign-on' } }
  const { paths } = await documentOf(t, { openapi: { info } }, { prefix: '/partner', routeOptions })
  const urls = ['/partner/oauth/authorize', '/partner/oauth/token', '/partner/oauth/user']
  t.strictSame(Object.keys(paths), urls)
  for (const url of urls) {
    const { tags, summary, description } = paths[url].get ?? paths[url].post
    t.strictSame([tags, summary], [['Portal'], 'Single sign-on'], url)
    t.ok(description, url)
  }
})

t.test('not hidden by the host: GET of the token, which is refused, stays hidden', async (t) => {
  isDocumented(t, await documentOf(t, { openapi: { info } }, { routeOptions: { schema: { hide: false } } }))
})

t.test('hidden by the host', async (t) => {
  const hidden = { prefix: '/partner', routeOptions: { schema: { hide: true } } }
  t.strictSame((await documentOf(t, { openapi: { info } }, hidden)).paths, {})
  t.strictSame((await documentOf(t, { openapi: { info }, hideUntagged: true }, { prefix: '/partner' })).paths, {})
})
