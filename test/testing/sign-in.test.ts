// A partner's test signs a user in and reads the record that the portal would get.
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import type { LoginPage } from '../../lib/testing/index.ts'
import { listening, partner, sessionOf, SETTINGS } from '../helpers/partner.ts'

await t.test('over HTTP, in-process, by form, Basic and PKCE, the record comes back', async (t) => {
  const { baseUrl, app } = await listening(t)
  for (const where of [{ baseUrl }, { app }]) {
    for (const how of [{}, { clientAuthentication: 'basic' as const }, { pkce: true }]) {
      const row = `${Object.keys(where)} ${Object.keys(how)}`
      const result = await portal({ ...where, ...SETTINGS, ...how }).signIn({ cookies: sessionOf('ada') })
      t.match(result, { ok: true, record: { external_id: 'u-1', type: 'partner' } }, row)
      t.same(result.steps.map((step) => step.outcome), Array(15).fill('done'), row)
      const steps = JSON.stringify(result.steps)
      const sent = ['code_challenge=', 'code_verifier='].map((name) => steps.includes(name))
      t.strictSame(sent, Array(2).fill('pkce' in how), row)
    }
  }
})

await t.test('the fifteen steps: who acts, and which of them show an exchange', async (t) => {
  const app = partner()
  const { steps } = await portal({ app, ...SETTINGS }).signIn({ cookies: sessionOf('ada') })
  t.strictSame(steps.map(({ number }) => number), Array.from({ length: 15 }, (_none, at) => at + 1))
  t.equal(steps.map(({ actor }) => actor[0]).join(''), 'BPPPSSSPPSSSPSS')
  const shown = steps.flatMap(({ number, exchange }) =>
    exchange === undefined ? [] : [[number, new URL(exchange.request.url).pathname, exchange.response?.status]])
  t.strictSame(shown, [
    [4, '/oauth/authorize', undefined], [7, '/oauth/authorize', 302],
    [9, '/oauth/token', 200], [12, '/oauth/token', 200], [13, '/oauth/user', 200], [15, '/oauth/user', 200]
  ])
})

await t.test('each step can be made by itself', async (t) => {
  const app = partner()
  const client = portal({ app, ...SETTINGS, pkce: true })
  const authorized = await client.authorize({ cookies: sessionOf('ada') })
  if (!authorized.ok) throw new Error(authorized.got)
  const without = await portal({ app, ...SETTINGS }).authorize({ cookies: sessionOf('ada') })
  t.equal(without.ok, true)
  t.notOk('verifier' in without, 'there is none without PKCE')
  const wrongVerifier = await client.token(authorized.code, { verifier: 'v'.repeat(43) })
  t.match(wrongVerifier, { ok: false, step: 10, error: 'invalid_grant', response: { status: 400 } })
  const again = await client.authorize({ cookies: sessionOf('ada') })
  if (!again.ok) throw new Error(again.got)
  const verifier = again.verifier as string
  const wrongSecret = await client.token(again.code, { verifier, parameters: { client_secret: 'wrong' } })
  t.match(wrongSecret, { ok: false, step: 11, error: 'invalid_client' })
  const token = await client.token(again.code, { verifier })
  if (!token.ok) throw new Error(token.got)
  t.equal(token.response.status, 200)
  const user = await client.user(token.accessToken)
  t.match(user, { ok: true, record: { name: 'Ada Lovelace' }, response: { status: 200 } })
  t.match(await client.user(token.accessToken), { ok: false, step: 14, error: 'invalid_token' })
})

await t.test('a login callback logs the user in, whether or not the login itself leads to the portal', async (t) => {
  for (const change of [{}, { returnTo: () => '/' }]) {
    const app = partner(change)
    let requests = 0
    app.addHook('onRequest', async ({ url }) => { if (url.startsWith('/oauth/authorize')) requests++ })
    const result = await portal({ app, ...SETTINGS }).signIn({
      login: async (page) => {
        t.match(page.body, '<form')
        t.equal(page.status, 200)
        await page.get(page.url)
        await page.post({ user: 'bob' })
        await page.get(page.url)
      }
    })
    t.match(result, { ok: true, record: { external_id: 'u-2', client_id: 42 } }, JSON.stringify(Object.keys(change)))
    t.equal(requests, 2, `after the login once, whatever it opens then: ${Object.keys(change)}`)
  }
})

await t.test('a form without an address goes to the URL of its page, with its query', async (t) => {
  const app = partner()
  const posted: string[] = []
  app.addHook('onRequest', async ({ method, url }) => { if (method === 'POST') posted.push(url) })
  await portal({ app, ...SETTINGS }).authorize({
    login: async (page) => {
      await page.post({ user: 'bob' })
      t.match(page.url, '/login?return_to=')
      t.strictSame(posted.map((url) => new URL(url, page.url).href), [page.url])
    }
  })
})

await t.test('after a login that leads elsewhere the request is made again, with its parameters', async (t) => {
  for (const end of ['/', '/a', 'https://www.partner.example/', '/round']) {
    const app = partner({ returnTo: () => end })
    const urls: string[] = []
    app.addHook('onRequest', async ({ url }) => { if (url.startsWith('/oauth/authorize')) urls.push(url) })
    app.get('/round', async (_request, reply) => reply.redirect('/round'))
    const login = (page: LoginPage) => page.post({ user: 'bob' })
    t.match(await portal({ app, ...SETTINGS }).authorize({ login }, { scope: 'a scope' }), { ok: true }, end)
    t.match(urls[0], 'scope=a+scope', end)
    t.strictSame(urls, [urls[0], urls[0]], end)
  }
})

await t.test('nobody logs in where the browser ends on no page', async (t) => {
  for (const loginPage of [(returnTo: string) => returnTo, () => 'https://login.partner.example/']) {
    const app = partner({ options: { loginPage } })
    const result = await portal({ app, ...SETTINGS }).signIn({ login: () => t.fail('the login is called') })
    t.match(result, { ok: false, step: 5 }, String(loginPage))
  }
})

await t.test('a user known by a header', async (t) => {
  const app = partner()
  t.match(await portal({ app, ...SETTINGS }).signIn({ headers: { cookie: sessionOf('ada') } }), { ok: true })
})
