// A set-up that cannot work fails when the app starts, with an error that says what to do.
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { signsIn } from '../contract/keeps-contract.ts'
import { Fastify } from '../helpers/fastify.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

/** The error with which an app with this registration fails to start. The app is closed. */
async function failure (
  overrides: object, prepare: (app: FastifyInstance) => unknown = () => {}
): Promise<Error & { code?: string }> {
  const app = Fastify()
  const start = async () => {
    await prepare(app)
    await app.register(partnerSso<User>, hostOptions(overrides as Partial<PartnerSsoOptions<User>>))
    await app.ready()
    return new Error('It started')
  }
  const error = await start().catch((error) => error)
  await app.close()
  return error
}

t.test('two registrations on one prefix', async (t) => {
  const register = (app: FastifyInstance, prefix: string) => app.register(partnerSso<User>, hostOptions({ prefix }))
  t.equal((await failure({}, (app) => register(app, ''))).message,
    'partner-sso: the route GET /oauth/authorize already exists. Where the plugin is registered more than once, or ' +
    'the app has such a route of its own, give each registration a "prefix" of its own')
  t.match((await failure({ prefix: '/sso' }, (app) => register(app, '/sso'))).message,
    /^partner-sso: the route GET \/sso\/oauth\/authorize already exists\./)
})

t.test('a route of the host in the way', async (t) => {
  const { message } = await failure({}, (app) => app.post('/oauth/token', async () => 'own'))
  t.match(message, /^partner-sso: the route POST \/oauth\/token already exists\..* "prefix" /)
})

t.test('two registrations on one prefix, told apart by host name', async (t) => {
  const at = (host: string) => ({ routeOptions: { constraints: { host } } })
  const { app } = await startHost(t, at('one.example'), {
    finish: (app) => app.register(partnerSso<User>, hostOptions(at('two.example')))
  })
  const statusAt = async (host: string) => (await app.inject({ url: '/oauth/user', headers: { host } })).statusCode
  t.equal(await statusAt('one.example'), 401)
  t.equal(await statusAt('two.example'), 401)
  t.equal(await statusAt('three.example'), 404)
})

t.test('a hook that is no function', async (t) => {
  for (const name of ['currentUser', 'portalEligibility', 'onEvent']) {
    for (const value of ['a string', { handler () {} }, null]) {
      const expected = new RegExp(`^partner-sso: option "${name}" must be a function \\(.*\\) => .*; got `)
      t.match((await failure({ [name]: value })).message, expected, `${name}: ${typeof value}`)
    }
  }
  t.match((await failure({ currentUser: undefined })).message,
    /^partner-sso: option "currentUser" must be a function .*; got undefined$/)
  t.match((await failure({ loginPage: 7 })).message,
    /^partner-sso: option "loginPage" must be a URL .* or a function .*; got 7$/)
  t.match((await failure({ store: { put () {}, take () {} } })).message,
    /^partner-sso: option "store" must be an object with the methods put, take and revoke/)
})

t.test('route options that Fastify refuses', async (t) => {
  const { code } = await failure({ routeOptions: { onRequest: 'not a function' } })
  t.equal(code, 'FST_ERR_HOOK_INVALID_HANDLER', 'it says so itself')
})

const needed = new RegExp('^partner-sso: Redis refuses a command that is needed: ' +
  'SET with EX and NX, GETDEL, and EVAL of a script with GETDEL, SADD and EXPIRE ' +
  '\\(Redis 6\\.2 or later, not renamed, allowed to this user\\): .*unknown command')

t.test('a Redis that is too old', async (t) => {
  // One from before 6.2 knows no GETDEL; nor does this one.
  const { url, client } = await startRedis(t, ['--rename-command', 'GETDEL', ''])
  t.match((await failure({ redis: url })).message, needed)

  const own = new Redis(url)
  t.match((await failure({ redis: own })).message, needed, 'with a client of the host')
  t.equal(await own.ping(), 'PONG', 'which stays open')
  own.disconnect()
  while (String(await client.client('LIST')).trim().includes('\n')) await setTimeout(5)
  t.pass('and no other is left')
})

t.test('a Redis that does not allow it', async (t) => {
  const { port, client } = await startRedis(t)
  await client.call('ACL', 'SETUSER', 'app', 'on', '>pass', '~partner-sso:*', '+set', '+info', '+client')
  const redis = `redis://app:pass@127.0.0.1:${port}`
  const { message } = await failure({ redis })
  t.match(message, /^partner-sso: Redis refuses a command.*NOPERM/)
  t.notMatch(message, /pass@/)

  await client.call('ACL', 'SETUSER', 'app', '+getdel', '+eval', '+sadd', '+expire')
  const { url } = await startHost(t, { redis })
  await signsIn(t, wire(url))
})

t.test('a Redis that is not there yet is no reason not to start', async (t) => {
  const { url } = await startHost(t, { redis: 'redis://127.0.0.1:1', storeTimeout: 50 })
  t.equal((await wire(url).authorize()).redirect.get('error'), 'temporarily_unavailable')
})
