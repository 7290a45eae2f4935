// Every program of the documents is compiled, strictly, against the package as it ships. The recipes are run, and
// signed in to.
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { UserInformation } from '../../lib/index.ts'
import { checkStore, portal } from '../../lib/testing/index.ts'
import type { PortalDouble } from '../../lib/testing/index.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { mustRun } from './commands.js'
import { written } from './documents.ts'

const SECRET = 'a secret of at least thirty-two characters'
process.env.JWT_SECRET = SECRET
process.env.PORTAL_CLIENT_SECRET = PORTAL.clientSecret
/** That of the recipe. */
const redirectUri = 'http://127.0.0.1:4180/oauth/callback'

const options = {
  portal: { ...PORTAL, redirectUri },
  loginPage: '/login',
  portalEligibility: ({ id }: { id: string }): UserInformation | null => id === 'bob' ? null : recordOf(id)
}
const double = (app: FastifyInstance): PortalDouble => portal({ app, ...options.portal, timeout: 60_000 })
const alice = { ok: true, record: { external_id: 'alice' } }
const loginRequired = { ok: false, error: 'login_required' }

const directory = await written(t)
mustRun('node_modules/.bin/tsc', ['-p', directory])

/** What a recipe exports. */
const recipe = async (name: string) => await import(pathToFileURL(join(directory, `${name}.mjs`)).href)

t.test('session, signed in to by the recipe for tests', async (t) => {
  const { addSso } = await recipe('session')
  const { signInAs } = await recipe('testing')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(formbody)
  await addSso(app, SECRET, options)
  app.get('/login', async () => 'log in')
  app.post<{ Body: { user: string }, Querystring: { return_to: string } }>('/login', async (request, reply) => {
    Object.assign(Reflect.get(request, 'session'), { user: { id: request.body.user } })
    return await reply.redirect(request.query.return_to, 303)
  })
  t.equal(await signInAs(app, 'alice'), 'Name of alice enters as Partner Read Only')
  await t.rejects(signInAs(app, 'bob'), { message: /^Step \d+: expected .*access_denied/s })
  t.match(await double(app).signIn(), loginRequired)
})

t.test('jwt', async (t) => {
  const { currentUser } = await recipe('jwt')
  const { app } = await startHost(t, { ...options, currentUser }, {
    prepare: async (app) => await app.register(cookie),
    finish: (app) => app.get('/login', async () => 'log in')
  })
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: object, secret = SECRET) => {
    const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  t.match(await double(app).signIn({ cookies: { jwt: token({ sub: 'alice' }) } }), alice)
  const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'alice' })}.`
  const expired = token({ sub: 'alice', exp: 1 })
  for (const jwt of [expired, token({ sub: 'alice' }, 'another secret'), token({}), 'no JWT', unsigned]) {
    t.match(await double(app).signIn({ cookies: { jwt } }), loginRequired, 'leads to the login page')
  }
  t.match(await double(app).signIn(), loginRequired)
})

t.test('events', async (t) => {
  const { onEvent } = await recipe('events')
  const { app } = await startHost(t, { portal: options.portal, onEvent })
  t.match(await double(app).signIn({ headers: { 'x-user': 'alice' } }), alice)

  const lines: unknown[] = []
  const request = { log: { fatal: (...line: unknown[]) => lines.push(line) } }
  onEvent({ type: 'code_replayed', reason: 'code_replayed', externalId: 'alice', requestId: '1' }, request)
  onEvent({ type: 'code_issued', reason: 'ok', requestId: '1' }, request)
  t.strictSame(lines, [[{ reason: 'code_replayed', externalId: 'alice' }, 'Was a code stolen?']])
})

t.test('store', async (t) => {
  const { MapStore } = await recipe('store')
  await checkStore(new MapStore())
  const { app } = await startHost(t, { portal: options.portal, store: new MapStore() })
  t.match(await double(app).signIn({ headers: { 'x-user': 'alice' } }), alice)
})
