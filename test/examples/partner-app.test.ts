// The example that people copy: its session and its login.
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { partnerApp } from '../../examples/partner-app.ts'

const registration = {
  loginUrl: 'https://portal.example/external-oauth/demo',
  clientId: 'acme',
  clientSecret: 'a secret',
  redirectUri: 'https://portal.example/oauth/callback'
}
const cookieSecret = 'the secret of the session cookies'
const start = async (secure = false) => await partnerApp({ portal: registration, cookieSecret, secure, logger: false })

t.test('it does not start without a secret for its session cookies', async (t) => {
  for (const cookieSecret of [undefined, '', 'too short']) {
    const app = partnerApp({ portal: registration, cookieSecret: cookieSecret as string, logger: false })
    await t.rejects(app, { message: 'cookieSecret must have 32 characters or more' }, String(cookieSecret))
  }
})

const logIn = async (app: FastifyInstance, payload: string): Promise<LightMyRequestResponse> => await app.inject({
  method: 'POST',
  url: '/login',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  payload
})

t.test('the session is signed', async (t) => {
  const app = await start(true)
  const forged = await app.inject({ url: '/', cookies: { acme_session: 'u-1.made-up' } })
  t.equal(forged.headers.location, '/login')
  const unknown = await logIn(app, 'user=u-99')
  t.equal(unknown.statusCode, 400)
  t.equal((await app.inject({ method: 'POST', url: '/login' })).statusCode, 400)
  const login = await logIn(app, 'user=u-1')
  t.match(login.headers['set-cookie'], /^acme_session=.+; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  const home = await app.inject({ url: '/', cookies: { acme_session: login.cookies[0]?.value as string } })
  t.match(home.body, /Good day, Ada Okafor[^]*href="https:\/\/portal\.example\/external-oauth\/demo"[^]*href="\/login"/)
  t.match(home.headers['content-security-policy'], /form-action 'self' https:\/\/portal\.example$/)
})
