// A partner's test signs a user in and reads the record that the portal would get.
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { listening, SETTINGS, specServer } from '../helpers/spec-server.ts'

await t.test('over HTTP, in-process, by form, Basic and PKCE, the record comes back', async (t) => {
  const { baseUrl, app, cookie } = await listening(t)
  for (const where of [{ baseUrl }, { app }]) {
    for (const how of [{}, { clientAuthentication: 'basic' as const }, { pkce: true }]) {
      const result = await portal({ ...where, ...SETTINGS, ...how }).signIn({ cookies: cookie })
      t.equal(result.ok, true)
      t.match(result, { record: { external_id: 'u-1', type: 'partner' } })
      t.same(result.steps.map((step) => step.outcome), Array(15).fill('done'))
      const hasProof = 'pkce' in how
      t.equal(JSON.stringify(result.steps).includes('code_challenge='), hasProof)
      t.equal(JSON.stringify(result.steps).includes('code_verifier='), hasProof)
    }
  }
})

await t.test('the fifteen steps: who does what, and what was seen of it', async (t) => {
  const { app, cookie } = await specServer()
  const { steps } = await portal({ app, ...SETTINGS }).signIn({ cookies: cookie })
  const told = steps.map(({ number, actor, action, note }) => `${number} ${actor}: ${action} ${note}`.trim())
  t.strictSame(told, [
    '1 Browser: User is sent to the portal’s start URL, which ends with the credentials identifier.',
    '2 Portal: Finds its OAuth configuration by the credentials identifier. ' +
      `The integration of client_id ${SETTINGS.clientId} was found.`,
    '3 Portal: Creates a session and stores a random state in it, on the server only. ' +
      'A session was created, with a state of 256 random bits.',
    '4 Portal: Redirects the browser to GET /oauth/authorize. ' +
      'The browser was sent to http://localhost/oauth/authorize.',
    '5 Service: Makes sure the user is logged in and may use the portal.',
    '6 Service: Validates client_id and redirect_uri.',
    '7 Service: Redirects the browser to the portal with a code and the same state. The browser came back with a code.',
    '8 Portal: Compares the state from the redirect with the one in the session. ' +
      'The state is the one that was sent.',
    '9 Portal: Calls POST /oauth/token with its credentials and the code.',
    '10 Service: Validates the code: single use, only at this step.',
    '11 Service: Validates the client credentials.',
    '12 Service: Returns an access token, linked to the user of the code. An access token came back.',
    '13 Portal: Calls GET /oauth/user with the access token.',
    '14 Service: Validates the access token: single use, only at this step.',
    '15 Service: Returns the user information. The user information came back and keeps the rules.'
  ])
})

await t.test('no secret stands in the steps', async (t) => {
  const { baseUrl, cookie } = await listening(t)
  const client = portal({ baseUrl, ...SETTINGS, pkce: true })
  const authorized = await client.authorize({ cookies: { sid: 'ada' } })
  if (!authorized.ok) throw new Error(authorized.got)
  const result = await client.signIn({ cookies: cookie })
  const text = JSON.stringify([result.steps, authorized.steps])
  t.notMatch(text, SETTINGS.clientSecret)
  t.notMatch(text, encodeURIComponent(SETTINGS.clientSecret))
  t.notMatch(text, new URLSearchParams({ v: SETTINGS.clientSecret }).toString().slice(2))
  t.notMatch(text, authorized.code)
  t.notMatch(text, 'sid=ada')
  t.notMatch(text, /access_token":"[A-Za-z0-9_-]/)
})

await t.test('each step can be made by itself', async (t) => {
  const { app, cookie } = await specServer()
  const client = portal({ app, ...SETTINGS, pkce: true })
  const authorized = await client.authorize({ cookies: cookie })
  if (!authorized.ok) throw new Error(authorized.got)
  const without = await portal({ app, ...SETTINGS }).authorize({ cookies: cookie })
  t.equal(without.ok, true)
  t.notOk('verifier' in without, 'there is none without PKCE')
  const wrongVerifier = await client.token(authorized.code, { verifier: 'v'.repeat(43) })
  t.match(wrongVerifier, { ok: false, step: 10, error: 'invalid_grant', response: { status: 400 } })
  const again = await client.authorize({ cookies: cookie })
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
  for (const mistakes of [[], ['login-forgets' as const]]) {
    const { app } = await specServer({ mistakes })
    const result = await portal({ app, ...SETTINGS }).signIn({
      login: async (page) => {
        t.match(page.body, '<form')
        t.equal(page.status, 200)
        await page.get(page.url)
        await page.post({ user: 'bob' })
      }
    })
    t.match(result, { ok: true, record: { external_id: 'u-2', client_id: 42 } })
  }
})

await t.test('a user known by a header', async (t) => {
  const { app } = await specServer()
  t.match(await portal({ app, ...SETTINGS }).signIn({ headers: { cookie: 'sid=ada' } }), { ok: true })
})
