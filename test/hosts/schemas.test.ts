// The host validates and serializes in its own way. None of it reaches our routes.
import type { FastifyServerOptions } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import t from 'tap'
import { z } from 'zod'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('compilers of fastify-type-provider-zod for the whole app', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.setValidatorCompiler(validatorCompiler)
      app.setSerializerCompiler(serializerCompiler)
      const schema = {
        querystring: z.object({ page: z.coerce.number() }),
        response: { 200: z.object({ page: z.number() }) }
      }
      app.get('/own', { schema },
        async (request) => ({ page: (request.query as { page: number }).page, secret: true }))
    }
  })
  await keepsContract(t, wire(url))
  t.equal((await wire(url).send('/own?page=2')).text, '{"page":2}')
  t.equal((await wire(url).send('/own?page=x')).status, 400)
})

t.test('ajv.customOptions that change what they validate', async (t) => {
  const customOptions = {
    coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: true, strict: true
  } as const
  const { url } = await startHost(t, {}, {
    server: { ajv: { customOptions } },
    prepare (app) {
      const properties = { page: { type: 'array', items: { type: 'number' } } }
      app.get('/own', { schema: { querystring: { type: 'object', properties } } }, async (request) => request.query)
    }
  })
  await keepsContract(t, wire(url))
  t.strictSame((await wire(url).send('/own?page=2&more=3')).json, { page: [2] })
})

const unknown = () => () => { throw new Error('only schemas of the host can be compiled') }
const schemaController = { compilersFactory: { buildValidator: () => unknown, buildSerializer: () => unknown } }

const compilers = { 'compilers of Fastify': {}, 'compiler factories of the host': { schemaController } }

for (const [name, server] of Object.entries(compilers)) {
  t.test(`a schema of the host for our routes documents them, and is not compiled: ${name}`, async (t) => {
    const absent = { type: 'object', required: ['absent'] }
    const response = { '2xx': absent, '4xx': absent }
    const schema = { tags: ['Portal'], querystring: absent, headers: absent, response }
    const { url } = await startHost(t, { routeOptions: { schema } }, {
      server: server as FastifyServerOptions,
      prepare: (app) => app.addHook('onRequest', async (request) => {
        const { schema = {} } = request.routeOptions
        if (!request.is404) t.strictSame(Object.keys(schema), ['tags'], 'hooks of the host see what describes')
        if (request.headers['x-stop'] !== undefined) throw Object.assign(new Error('stop'), { statusCode: 403 })
      })
    })
    await keepsContract(t, wire(url))
    const stopped = await wire(url).authorize({}, null, { 'x-stop': '1' })
    t.strictSame(stopped.json, { statusCode: 403, error: 'Forbidden', message: 'stop' })
  })
}
