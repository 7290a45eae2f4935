// `loginPage`: where a browser goes that is not logged in, and how it comes back.
import { request } from 'node:http'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('a text', async (t) => {
  const pages = {
    '/login': '/login?return_to=RETURN',
    '/login?lang=en': '/login?lang=en&return_to=RETURN',
    '/app#/login': '/app?return_to=RETURN#/login',
    'https://login.partner.example/': 'https://login.partner.example/?return_to=RETURN'
  }
  for (const [loginPage, expected] of Object.entries(pages)) {
    const { url } = await startHost(t, { loginPage })
    const location = (await wire(url).authorize({}, null)).headers.get('location')
    t.equal(location?.replace(/%2Foauth%2Fauthorize%3Fclient_id[^#&]*/, 'RETURN'), expected)
  }
})

t.test('a function that fails', async (t) => {
  const notUrl = 'loginPage must return a URL'
  const cases: Array<[page: () => unknown, cause: string]> = [
    [() => '', notUrl],
    [() => undefined, notUrl],
    // The types refuse an async function, JavaScript does not.
    [async () => { throw new Error('no page') }, notUrl],
    [() => { throw new Error('no page') }, 'no page']
  ]
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => { unhandled.push(reason) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  for (const [loginPage, cause] of cases) {
    const lines: string[] = []
    const server = { logger: { stream: { write: (line: string) => { lines.push(line) } } } }
    const { url, events } = await startHost(t, { loginPage: loginPage as () => string }, { server })
    t.equal((await wire(url).authorize({}, null)).redirect.get('error'), 'server_error')
    t.match(events, [{ type: 'sign_in_refused', reason: 'login_page_failed' }])
    t.ok(lines.some((line) => line.includes('login_page_failed') && line.includes(cause)), 'the log says why')
  }
  // Rejections without a handler are reported at the end of the turn in which they happen.
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(unhandled, [])
})

t.test('return_to is on this site, however the target of the request was written', async (t) => {
  const { app } = await startHost(t, { loginPage: '/login' }, {
    server: { rewriteUrl: ({ url }) => (url as string).replace(/^[^?]*(?=\/oauth)/, '') }
  })
  const query = `client_id=${PORTAL.clientId}&redirect_uri=${PORTAL.redirectUri}&response_type=code&state=s`
  const { port } = app.server.address() as { port: number }
  for (const [target, path] of [
    ['/oauth/authorize', '/oauth/authorize'],
    ['//evil.example/oauth/authorize', '/evil.example/oauth/authorize'],
    ['/\\evil.example/oauth/authorize', '/evil.example/oauth/authorize'],
    ['http://evil.example/oauth/authorize', '/oauth/authorize'],
    ['HTTPS://evil.example:8443/oauth/authorize', '/oauth/authorize'],
    ['http:////evil.example/oauth/authorize', '/evil.example/oauth/authorize']
  ] as const) {
    const asked = { port, path: `${target}?${query}` }
    const location = await new Promise<string>((resolve, reject) => request(asked, (response) => {
      response.resume()
      resolve(response.headers.location as string)
    }).on('error', reject).end())
    const returnTo = new URL(location, 'http://partner.example').searchParams.get('return_to') as string
    t.equal(returnTo, `${path}?${query}`, target)
    t.equal(new URL(returnTo, 'http://partner.example').host, 'partner.example', target)
  }
})
