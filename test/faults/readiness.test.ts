// app.partnerSso.ready(): what a host's readiness route can ask.
import { advance, STORE_TIMEOUT, turns } from './clock.ts'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoStatus, Store } from '../../lib/index.ts'
import { hostOptions } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { readyAgain, scene, until } from './scene.ts'

const never = new Promise<never>(() => {})
const silent: Store = { put: () => never, take: () => never, revoke: () => never }
const forgetful: Store = { put: async () => true, take: async () => null, revoke: async () => false }

interface Teardown { teardown (stop: () => unknown): void }

/** A promise whose value can be looked at. */
function watched<Value> (promise: Promise<Value>): { answer?: Value } {
  const watched: { answer?: Value } = {}
  promise.then((answer) => { watched.answer = answer }, () => {})
  return watched
}

async function appWith (t: Teardown, build: (app: FastifyInstance) => unknown): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await build(app)
  await app.ready()
  return app
}

t.test('it does real work: what Redis refuses is seen', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  t.equal(await host.ready(), true)
  // The mark of the start lives for a second.
  t.ok(await until(async () => await redis.client.dbsize() === 0), 'it leaves nothing behind')
  await redis.client.config('SET', 'maxmemory', '1')
  t.equal(await host.ready(), false, 'out of memory')
  await redis.client.config('SET', 'maxmemory', '0')
  t.equal(await host.ready(), true)
  redis.process.kill('SIGSTOP')
  const probe = watched(host.ready())
  await turns()
  t.equal(probe.answer, undefined, 'it waits')
  await advance(STORE_TIMEOUT)
  t.equal(probe.answer, false, 'silent: until storeTimeout has passed')
  redis.process.kill('SIGCONT')
  await readyAgain(t, host)
})

t.test('put and take together take no longer than storeTimeout', async (t) => {
  let takes = 0
  const slow: Store = {
    put: async () => await new Promise((resolve) => setTimeout(resolve, 2 * STORE_TIMEOUT / 3, true)),
    take: () => {
      takes++
      return never
    },
    revoke: async () => false
  }
  let store = forgetful
  const app = await appWith(t, (app) => app.register(partnerSso, hostOptions({
    storeTimeout: STORE_TIMEOUT,
    store: {
      put: (...given) => store.put(...given),
      take: (key) => store.take(key),
      revoke: (...given) => store.revoke(...given)
    }
  })))
  store = slow
  const probe = watched(app.partnerSso.ready())
  await turns()
  await advance(2 * STORE_TIMEOUT / 3)
  t.equal(takes, 1, 'the value is put')
  t.equal(probe.answer, undefined, 'and not taken yet')
  await advance(STORE_TIMEOUT / 3)
  t.equal(probe.answer, false)
})

t.test('a store that gives nothing back is not ready', async (t) => {
  const app = await appWith(t, (app) => app.register(partnerSso, hostOptions({ store: forgetful })))
  t.equal(await app.partnerSso.ready(), false)
})

t.test('who asks while a probe is under way gets its answer', async (t) => {
  let puts = 0
  const kept = new Map<string, string>()
  const store: Store = {
    async put (key, value) {
      puts++
      kept.set(key, value)
      return true
    },
    async take (key) { return kept.get(key) ?? null },
    async revoke () { return false }
  }
  const app = await appWith(t, (app) => app.register(partnerSso, hostOptions({ store })))
  puts = 0
  const answers = await Promise.all(Array.from({ length: 50 }, async () => await app.partnerSso.ready()))
  t.strictSame(answers, Array(50).fill(true))
  t.equal(puts, 1)
  await app.partnerSso.ready()
  t.equal(puts, 2)
})

t.test('two registrations: ready when both are', async (t) => {
  const app = await appWith(t, async (app) => {
    await app.register(partnerSso, hostOptions({ prefix: '/test' }))
    await app.register(partnerSso, hostOptions({ prefix: '/live' }))
  })
  t.equal(await app.partnerSso.ready(), true)
  const half = await appWith(t, async (app) => {
    await app.register(partnerSso, hostOptions({ prefix: '/test' }))
    await app.register(partnerSso, hostOptions({ prefix: '/live', store: silent, storeTimeout: 50 }))
  })
  t.equal(await half.partnerSso.ready(), false)
  for (const prefix of ['/test', '/live']) {
    t.equal((await half.inject(`${prefix}/oauth/user`)).statusCode, 401, `the routes are under ${prefix}`)
  }
  t.equal((await half.inject('/oauth/user')).statusCode, 404)
})

t.test('scopes: a scope inside adds to that of its parent; scopes beside each other are apart', async (t) => {
  const states: Record<string, PartnerSsoStatus> = {}
  const app = await appWith(t, async (app) => {
    await app.register(async (scope) => {
      await scope.register(partnerSso, hostOptions({ prefix: '/sso' }))
      states.left = scope.partnerSso
    }, { prefix: '/left' })
    await app.register(async (scope) => {
      await scope.register(partnerSso, hostOptions())
      await scope.register(async (inside) => {
        await inside.register(partnerSso, hostOptions({ store: silent, storeTimeout: 50 }))
        states.inside = inside.partnerSso
      }, { prefix: '/inside' })
      states.right = scope.partnerSso
    }, { prefix: '/right' })
  })
  t.equal(await states.left?.ready(), true)
  t.equal(states.inside, states.right)
  t.equal(await states.right?.ready(), false)
  t.notOk(app.hasDecorator('partnerSso'), 'the app above has none')
  for (const url of ['/left/sso/oauth/user', '/right/oauth/user', '/right/inside/oauth/user']) {
    t.equal((await app.inject(url)).statusCode, 401, url)
  }
})

t.test('nothing else reaches the host', async (t) => {
  const plain = await appWith(t, () => {})
  const app = await appWith(t, async (app) => {
    await app.register(partnerSso, hostOptions())
    app.post('/form', async (request) => request.body)
    app.get('/error', async () => { throw new Error('the host’s own') })
  })
  const own = (app: FastifyInstance) => Object.keys(app).filter((name) => name !== 'partnerSso')
  t.strictSame(own(app), own(plain))
  t.equal(app.prefix, '')
  t.equal(app.validatorCompiler, plain.validatorCompiler)
  t.equal(app.serializerCompiler, plain.serializerCompiler)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = await app.inject({ method: 'POST', url: '/form', headers, payload: 'a=b' })
  t.equal(form.statusCode, 415, 'no parser for forms')
  const error = await app.inject('/error')
  t.equal(error.json().message, 'the host’s own', 'no error handler')
  t.notOk(error.headers['cache-control'], 'no headers')
})

t.test('the same paths twice, or a decorator of that name: refused', async (t) => {
  const twice = Fastify()
  await twice.register(partnerSso, hostOptions())
  await t.rejects(async () => { await twice.register(partnerSso, hostOptions()) }, {
    message: /the route GET \/oauth\/authorize already exists/
  })
  const taken = Fastify()
  taken.decorate('partnerSso', { ready: async () => true })
  await t.rejects(async () => { await taken.register(partnerSso, hostOptions()) }, {
    code: 'FST_ERR_DEC_ALREADY_PRESENT'
  })
})

t.test('the host can see that the plugin is there', async (t) => {
  const app = await appWith(t, (app) => app.register(partnerSso, hostOptions()))
  t.ok(app.hasPlugin('fastify-partner-sso'))
})
