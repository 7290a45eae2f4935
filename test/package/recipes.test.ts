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
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent, UserInformation } from '../../lib/index.ts'
import { checkStore, portal } from '../../lib/testing/index.ts'
import { compile, written } from './documents.ts'

const registration = {
  loginUrl: 'http://127.0.0.1:4180/external-oauth/local',
  clientId: 'partner-123',
  clientSecret: 'the secret of the portal',
  redirectUri: 'http://127.0.0.1:4180/oauth/callback'
}
const { clientId, clientSecret, redirectUri } = registration
const integration = { clientId, clientSecret, redirectUri, timeout: 60_000 }
const SECRET = 'a secret of at least thirty-two characters'
process.env.JWT_SECRET = SECRET
process.env.PORTAL_CLIENT_SECRET = registration.clientSecret

interface User { id: string }

const portalEligibility = ({ id }: User): UserInformation => ({
  external_id: id,
  email: `${id}@partner.example`,
  name: id,
  type: 'partner',
  control_role: 'Partner Read Only',
  product_role: 'Product Operator'
})
const options = { portal: registration, portalEligibility, loginPage: '/login' }
const byHeader = {
  ...options,
  currentUser: ({ headers }: { headers: Record<string, unknown> }) =>
    headers['x-user'] === undefined ? null : { id: String(headers['x-user']) }
}
const alice = { ok: true, record: { external_id: 'alice' } }

const directory = await written(t)
compile(directory)

/** What a recipe exports. */
const recipe = async (name: string) => await import(pathToFileURL(join(directory, `${name}.mjs`)).href)

const startApp = (): FastifyInstance => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  return app
}

t.test('session', async (t) => {
  const app = startApp()
  const { addSso } = await recipe('session')
  await app.register(formbody)
  await addSso(app, SECRET, options)
  app.get('/login', async () => 'log in')
  app.post<{ Body: User, Querystring: { return_to: string } }>('/login', async (request, reply) => {
    Object.assign(Reflect.get(request, 'session'), { user: { id: request.body.id } })
    return await reply.redirect(request.query.return_to, 303)
  })
  const double = portal({ app, ...integration })
  t.match(await double.signIn({ login: (page) => page.post({ id: 'alice' }) }), alice)
  t.match(await double.signIn(), { ok: false, error: 'login_required' })
})

t.test('jwt', async (t) => {
  const app = startApp()
  const { currentUser } = await recipe('jwt')
  await app.register(cookie)
  await app.register(partnerSso, { ...options, currentUser })
  app.get('/login', async () => 'log in')
  const double = portal({ app, ...integration })
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: object, secret = SECRET) => {
    const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  t.match(await double.signIn({ cookies: { jwt: token({ sub: 'alice' }) } }), alice)
  const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'alice' })}.`
  const expired = token({ sub: 'alice', exp: 1 })
  for (const jwt of [expired, token({ sub: 'alice' }, 'another secret'), token({}), 'no JWT', unsigned]) {
    const result = await double.signIn({ cookies: { jwt } })
    t.match(result, { ok: false, error: 'login_required' }, 'leads to the login page')
  }
  t.match(await double.signIn(), { ok: false, error: 'login_required' })
})

t.test('testing', async (t) => {
  const { signInAs } = await recipe('testing')
  const app = startApp()
  await app.register(cookie)
  await app.register(formbody)
  await app.register(partnerSso, {
    ...options,
    currentUser: ({ cookies: { user } }) => user === undefined ? null : { id: user },
    portalEligibility: (user: User) => user.id === 'alice' ? portalEligibility(user) : null
  })
  app.get('/login', async () => 'log in')
  app.post<{ Body: { user: string }, Querystring: { return_to: string } }>('/login', async (request, reply) =>
    await reply.setCookie('user', request.body.user, { path: '/' }).redirect(request.query.return_to, 303))
  t.equal(await signInAs(app, 'alice'), 'alice enters as Partner Read Only')
  await t.rejects(signInAs(app, 'bob'), { message: /^Step \d+: expected .*access_denied/s })
})

t.test('events', async (t) => {
  const { onEvent } = await recipe('events')
  const app = startApp()
  const seen: PartnerSsoEvent[] = []
  await app.register(partnerSso, {
    ...byHeader,
    onEvent (event, request) {
      seen.push(event)
      onEvent(event, request)
    }
  })
  t.match(await portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } }), alice)
  t.strictSame(seen.map(({ type }) => type), ['code_issued', 'token_issued', 'user_information_returned'])

  const lines: unknown[] = []
  const request = { log: { fatal: (...line: unknown[]) => lines.push(line) } }
  onEvent({ type: 'code_replayed', reason: 'code_replayed', externalId: 'alice', requestId: '1' }, request)
  onEvent({ type: 'code_issued', reason: 'ok', requestId: '1' }, request)
  t.strictSame(lines, [[{ reason: 'code_replayed', externalId: 'alice' }, 'Was a code stolen?']])
})

t.test('store', async (t) => {
  const { MapStore } = await recipe('store')
  await checkStore(new MapStore())
  const app = startApp()
  await app.register(partnerSso, { ...byHeader, store: new MapStore() })
  t.match(await portal({ app, ...integration }).signIn({ headers: { 'x-user': 'alice' } }), alice)
})
