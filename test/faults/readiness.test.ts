// app.partnerSso.ready() of several registrations, and what else the plugin adds to the host: nothing.
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoDecorator, Store } from '../../lib/index.ts'
import { pluginOptions, startApp } from '../app.ts'
import { turns } from '../clock.ts'

const never = new Promise<never>(() => {})
const silent: Store = { put: () => never, take: () => never, revoke: () => never }

t.test('ready when each is: a scope inside adds to its parent; scopes beside each other are apart', async (t) => {
  const states: Record<string, PartnerSsoDecorator> = {}
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (scope) => {
    await scope.register(partnerSso, pluginOptions())
    states.left = scope.partnerSso
  }, { prefix: '/left' })
  await app.register(async (scope) => {
    await scope.register(partnerSso, pluginOptions())
    await scope.register(async (inside) => {
      await inside.register(partnerSso, pluginOptions({ store: silent, storeTimeout: 50 }))
      states.inside = inside.partnerSso
    }, { prefix: '/inside' })
    states.right = scope.partnerSso
  }, { prefix: '/right' })
  await app.ready()
  t.equal(await states.left?.ready(), true)
  t.equal(states.inside, states.right)
  t.equal(await states.right?.ready(), false)
  t.notOk(app.hasDecorator('partnerSso'), 'the app above has none')
})

t.test('the stores of all registrations are asked at once: the answer takes no longer than that of one', async (t) => {
  let asked = 0
  const put = () => {
    asked++
    return never
  }
  const app = Fastify()
  t.teardown(() => app.close())
  for (const prefix of ['/one', '/two', '/three']) {
    await app.register(partnerSso, pluginOptions({ prefix, store: { ...silent, put }, storeTimeout: 100 }))
  }
  await app.ready()
  asked = 0
  const isReady = app.partnerSso.ready()
  await turns()
  t.equal(asked, 3)
  t.equal(await isReady, false)
})

t.test('nothing else reaches the host', async (t) => {
  const plain = Fastify()
  const { app } = await startApp(t, {
    finish (app) {
      app.post('/form', async (request) => request.body)
      app.get('/error', async () => { throw new Error('the host’s own') })
    }
  })
  const own = (app: FastifyInstance) => Object.keys(app).filter((name) => name !== 'partnerSso')
  t.strictSame(own(app), own(plain))
  t.equal(app.validatorCompiler, plain.validatorCompiler)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = await app.inject({ method: 'POST', url: '/form', headers, payload: 'a=b' })
  t.equal(form.statusCode, 415, 'no parser for forms')
  t.notOk((await app.inject('/error')).headers['cache-control'], 'no error handler, which would add headers')
})
