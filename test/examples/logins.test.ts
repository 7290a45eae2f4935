// The logins that people copy: a browser with no session, or a forged one, is sent to the login. The walk through each:
// test/browser/logins.test.ts.
import { createHmac } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { bearerLogin } from '../../examples/logins/bearer.ts'
import { cookiePathLogin } from '../../examples/logins/cookie-path.ts'
import { formLogin } from '../../examples/logins/form.ts'
import { samlLogin } from '../../examples/logins/saml.ts'
import type { Login } from '../../examples/logins/settings.ts'
import { singlePageLogin } from '../../examples/logins/single-page.ts'
import { portalRecord } from '../../examples/users.ts'
import { Fastify } from '../helpers/fastify.ts'
import { PORTAL } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import type { Wire } from '../helpers/wire.ts'

const SECRET = 'a secret of at least thirty-two characters'

/** An app with the login. */
async function start (t: Test, login: Login): Promise<{ app: FastifyInstance, at: Wire }> {
  const app = Fastify() as FastifyInstance
  t.teardown(() => app.close())
  await login(app, { portal: PORTAL, portalEligibility: portalRecord }, SECRET)
  const prefix = login === cookiePathLogin ? '/app' : ''
  return { app, at: wire(prefix, undefined, { fetch: injecting(app) }) }
}

const logins: Record<string, Login> = {
  form: formLogin,
  'single-page': singlePageLogin,
  saml: samlLogin('/login', async (user) => user),
  'cookie-path': cookiePathLogin,
  bearer: bearerLogin
}

for (const [name, login] of Object.entries(logins)) {
  t.test(`${name}: no session, and one that was made up`, async (t) => {
    const { at } = await start(t, login)
    for (const value of ['', 'u-1', 'u-1.made-up', 'u-1.bWFkZS11cA', '%', 'null']) {
      const cookie = ['session', 'sessionId', 'portal_session'].map((name) => `${name}=${value}`).join('; ')
      const { redirect } = await at.authorize({}, null, { cookie })
      t.ok(redirect.has('return_to'), value)
    }
  })
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function token (claims: object, secret = SECRET): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createHmac('sha256', key(secret)).update(text).digest('base64url')}`
}

const key = (secret: string): Uint8Array => new TextEncoder().encode(secret)

t.test('bearer: a token is exchanged for a cookie, and nothing else is', async (t) => {
  const { app, at } = await start(t, bearerLogin)
  const exchange = async (authorization?: string) => await app.inject({
    method: 'POST', url: '/api/portal-session', headers: authorization === undefined ? {} : { authorization }
  })
  const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'u-1' })}.`
  const wrong = [
    token({ sub: 'u-1', exp: 1 }), token({ sub: 'u-1' }, 'another secret'), token({}), token({ sub: 'u-99' }),
    unsigned, 'x'
  ]
  for (const value of wrong) {
    t.equal((await exchange(`Bearer ${value}`)).statusCode, 401, value)
    const { redirect } = await at.authorize({}, null, { cookie: `portal_session=${value}` })
    t.ok(redirect.has('return_to'), `leads to the login: ${value}`)
  }
  t.equal((await exchange()).statusCode, 401)
  const { headers, body } = await exchange(`Bearer ${token({ sub: 'u-1' })}`)
  t.match(headers['set-cookie'], /^portal_session=\S+; Max-Age=600; Path=\/oauth; HttpOnly; SameSite=Lax$/)
  t.strictSame(JSON.parse(body), { returnTo: '/' }, 'the portal did not ask')
  const cookie = String(headers['set-cookie']).split(';')[0] as string
  t.ok((await at.authorize({}, null, { cookie })).redirect.has('code'))
})
