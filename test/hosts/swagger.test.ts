// @fastify/swagger: our routes are in the document of the host, which stays valid.
import SwaggerParser from '@apidevtools/swagger-parser'
import swagger from '@fastify/swagger'
import type { SwaggerOptions } from '@fastify/swagger'
import {
  jsonSchemaTransform, jsonSchemaTransformObject, serializerCompiler, validatorCompiler
} from 'fastify-type-provider-zod'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { z } from 'zod'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const info = { title: 'A partner', version: '1.0.0' }

async function documentOf (
  t: Test,
  options: SwaggerOptions,
  overrides: Partial<PartnerSsoOptions<User>> = {},
  prepare = (_app: FastifyInstance) => {}
): Promise<any> {
  const { app, url } = await startHost(t, overrides, {
    async prepare (app) {
      await app.register(swagger, options)
      prepare(app)
    }
  })
  await keepsContract(t, wire(url))
  const document = JSON.parse(JSON.stringify(app.swagger()))
  // It resolves references in place.
  await SwaggerParser.validate(structuredClone(document))
  return document
}

const names = (parameters: Array<{ in: string, name: string, required?: boolean }>) =>
  parameters.map(({ in: place, name, required = false }) => `${place} ${name}${required ? '' : '?'}`)
const query = [
  'query client_id', 'query redirect_uri', 'query response_type', 'query state', 'query scope?',
  'query code_challenge?', 'query code_challenge_method?'
]
const formNames = ['grant_type', 'code', 'redirect_uri', 'client_id', 'client_secret', 'code_verifier']

function isDocumented (t: Test, { paths }: any): void {
  const { get: authorize } = paths['/oauth/authorize']
  const { post: token } = paths['/oauth/token']
  const { get: user } = paths['/oauth/user']
  t.strictSame(names(authorize.parameters), query)
  t.strictSame(Object.keys(authorize.responses), ['302', '400'])
  t.strictSame(Object.keys(authorize.responses[302].headers), ['location'])
  t.equal(authorize.responses[302].content, undefined)

  t.strictSame(Object.keys(token.requestBody.content), ['application/x-www-form-urlencoded'])
  const { schema: form } = token.requestBody.content['application/x-www-form-urlencoded']
  t.strictSame(form.required, ['grant_type', 'code', 'redirect_uri'])
  t.strictSame(Object.keys(form.properties), formNames)
  t.strictSame(Object.keys(token.responses), ['200', '400', '401', '503'])
  t.strictSame(token.responses[200].content['application/json'].schema.required, ['token_type', 'access_token'])

  t.strictSame(names(user.parameters), ['header authorization'])
  t.strictSame(Object.keys(user.responses), ['200', '400', '401', '503'])
  const { schema: record } = user.responses[200].content['application/json']
  t.strictSame(record.anyOf.map(({ properties: { control_role } }: any) => control_role.enum),
    [['Partner Administrator', 'Partner Read Only'], ['Client Administrator', 'Client Read Only']])
  for (const { required } of record.anyOf) {
    t.strictSame(required, ['external_id', 'email', 'name', 'type', 'control_role', 'product_role'])
  }
  for (const { summary, description, responses } of [authorize, token, user]) {
    t.ok(summary)
    t.ok(description)
    const descriptions = Object.values<{ description: string }>(responses).map(({ description }) => description)
    t.notOk(descriptions.includes('Default Response'))
  }
}

for (const openapi of ['3.0.3', '3.1.0']) {
  t.test(`OpenAPI ${openapi}`, async (t) => isDocumented(t, await documentOf(t, { openapi: { openapi, info } })))
}

t.test("with zod's transform", async (t) => {
  const options = {
    openapi: { info }, transform: jsonSchemaTransform, transformObject: jsonSchemaTransformObject
  }
  const document = await documentOf(t, options, {}, (app) => {
    app.setValidatorCompiler(validatorCompiler)
    app.setSerializerCompiler(serializerCompiler)
    const schema = { querystring: z.object({ page: z.string() }), response: { 200: z.string() } }
    app.get('/own', { schema }, async () => 'own')
  })
  isDocumented(t, document)
  t.strictSame(names(document.paths['/own'].get.parameters), ['query page'])
})

t.test('what the host adds', async (t) => {
  const schema = { tags: ['Portal'], summary: 'Single sign-on' }
  const { paths } = await documentOf(t, { openapi: { info } }, { routeOptions: { schema } })
  const operations = [paths['/oauth/authorize'].get, paths['/oauth/token'].post, paths['/oauth/user'].get]
  for (const { tags, summary, description } of operations) {
    t.strictSame(tags, ['Portal'])
    t.equal(summary, 'Single sign-on')
    t.ok(description)
  }
})

t.test('hidden by the host', async (t) => {
  t.strictSame((await documentOf(t, { openapi: { info } }, { routeOptions: { schema: { hide: true } } })).paths, {})
  t.strictSame((await documentOf(t, { openapi: { info }, hideUntagged: true })).paths, {})
})

t.test('under a prefix', async (t) => {
  const { app } = await startHost(t, { prefix: '/partner' }, {
    prepare: (app) => app.register(swagger, { openapi: { info } })
  })
  t.strictSame(Object.keys(app.swagger().paths ?? {}),
    ['/partner/oauth/authorize', '/partner/oauth/token', '/partner/oauth/user'])
})
