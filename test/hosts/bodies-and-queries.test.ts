// The host reads forms and queries in its own way. Its parsers do not reach our routes, and ours do not reach its own.
import formbody from '@fastify/formbody'
import qs from 'qs'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { keepsContract } from '../contract/keeps-contract.ts'
import { routerOptions } from '../helpers/fastify.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import type { Wire } from '../helpers/wire.ts'

const echo = (app: FastifyInstance) =>
  app.post('/form', async (request) => ({ body: request.body, query: request.query }))

const form = { 'content-type': 'application/x-www-form-urlencoded' }

async function ownForm (portal: Wire): Promise<unknown> {
  const body = 'a[b]=1&a[c]=2&d=3'
  return (await portal.send('/form?x[y]=1', { method: 'POST', headers: form, body })).json
}

const flat = { 'a[b]': '1', 'a[c]': '2', d: '3' }
const nested = { a: { b: '1', c: '2' }, d: '3' }

t.test('@fastify/formbody registered before', async (t) => {
  const { url } = await startHost(t, {}, {
    async prepare (app) {
      await app.register(formbody)
      echo(app)
    }
  })
  await keepsContract(t, wire(url))
  t.strictSame(await ownForm(wire(url)), { body: flat, query: { 'x[y]': '1' } })
})

t.test('@fastify/formbody registered after', async (t) => {
  const { url } = await startHost(t, {}, {
    async finish (app) {
      await app.register(formbody)
      echo(app)
    }
  })
  await keepsContract(t, wire(url))
  t.strictSame(await ownForm(wire(url)), { body: flat, query: { 'x[y]': '1' } })
})

t.test('qs for forms and queries', async (t) => {
  const { url } = await startHost(t, {}, {
    server: routerOptions({ querystringParser: (text) => qs.parse(text) }),
    async prepare (app) {
      await app.register(formbody, { parser: (text) => qs.parse(text) })
      echo(app)
    }
  })
  await keepsContract(t, wire(url))
  t.strictSame(await ownForm(wire(url)), { body: nested, query: { x: { y: '1' } } })
})

t.test('a parser of the host for whatever comes', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
        done(null, `text: ${String(body)}`)
      })
      echo(app)
    }
  })
  await keepsContract(t, wire(url))
  t.match(await ownForm(wire(url)), { body: 'text: a[b]=1&a[c]=2&d=3' })
})

t.test('a host without any parser does not get ours', async (t) => {
  const { url } = await startHost(t, {}, { prepare: echo })
  const { status } = await wire(url).send('/form', { method: 'POST', headers: form, body: 'a=1' })
  t.equal(status, 415)
})
