// What the page says while a browser is at the service, or while a code expires. The clock is the test's own.
import { setTimeout as wait } from 'node:timers/promises'
import { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { simulator } from '../../../lib/simulator/serve/app.ts'
import { integration } from '../../../lib/testing/settings.ts'
import { httpServer } from '../../helpers/raw-server.ts'
import { listening, type Mistake, SETTINGS } from '../../helpers/spec-server.ts'

interface Waiting {
  app: FastifyInstance
  /** Moves the clock. */
  pass: (seconds: number) => void
  /** Opens a page of the simulator with the browser's session. */
  open: (path: string) => Promise<string>
  /** Starts a sign-in or a trial, and gives the path of its page. */
  start: (trial?: string) => Promise<string>
  /** The browser comes back with a code, or whatever the service answers to this user. */
  comeBack: (user: string) => Promise<void>
}

async function waiting (t: Test, baseUrl: string): Promise<Waiting> {
  let now = 1000
  const app = await simulator({
    portal: integration({ ...SETTINGS, baseUrl }),
    loginUrl: 'http://localhost:4180/external-oauth/local',
    codeLifetime: 60,
    clock: () => now
  })
  t.teardown(() => app.close())
  let cookie = ''
  let authorize = ''
  const inject = (url: string) => app.inject({ url, headers: { host: 'localhost:4180', cookie } })
  return {
    app,
    pass: (seconds) => { now += seconds * 1000 },
    open: async (path) => (await inject(path)).body,
    async start (trial) {
      const response = await inject(`/external-oauth/local${trial === undefined ? '' : `?trial=${trial}`}`)
      cookie = String(response.headers['set-cookie']).split(';')[0] as string
      authorize = String(response.headers.location)
      return /\/sign-ins\/[\w-]+/.exec((await inject('/')).body)?.[0] as string
    },
    async comeBack (user) {
      const response = await fetch(authorize, { redirect: 'manual', headers: { cookie: `sid=${user}` } })
      const { pathname, search } = new URL(String(response.headers.get('location')))
      await inject(pathname + search)
    }
  }
}

const service = async (t: Test, mistakes: Mistake[] = []): Promise<string> => (await listening(t, { mistakes })).baseUrl

const CAUSES = [
  'The login page does not exist',
  'The login page drops return_to',
  'Content-Security-Policy blocks the way back',
  'The session cookie is not sent',
  'A hook of your application answers first'
]

await t.test('the usual causes appear after five seconds, and how to tell them apart', async (t) => {
  const { open, start, pass } = await waiting(t, await service(t))
  const path = await start()
  pass(4.9)
  t.notMatch(await open(path), 'id="causes"')
  t.notMatch(await open('/'), 'id="stuck"')
  pass(0.1)
  const page = await open(path)
  t.match(page, 'Take your time if you are logging in.')
  for (const cause of CAUSES) t.match(page, `<h3>${cause}</h3>`, 'a correct service: none is more likely')
  t.equal(page.match(/<b>How to tell:<\/b>/g)?.length, 5)
  t.equal(page.match(/<b>Fix:<\/b>/g)?.length, 5)
  t.match(page, 'Add http://localhost:4180 to form-action')
  t.match(await open('/'), new RegExp(`id="stuck"[^]*href="${path}">See the usual causes`), 'the start page links it')
})

await t.test('each cause says how to tell it, and what to do, in full sentences', async (t) => {
  const { open, start, pass } = await waiting(t, await service(t))
  const path = await start()
  pass(6)
  const list = /<ul class="causes">([^]*?)<\/ul>/.exec(await open(path))?.[1] ?? ''
  t.strictSame(list.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim(), [
    'The login page does not exist',
    'How to tell: The browser shows an error, and the address bar shows the address of the login page.',
    'Fix: Correct loginPage. It includes the prefix under which your application is reached.',
    'The login page drops return_to',
    'How to tell: After the login the browser shows a page of your application. Sign in at the portal again: now it',
    'works at once, because the session exists.',
    'Fix: Keep return_to in the login form (a hidden field), and redirect to it after the login.',
    'Content-Security-Policy blocks the way back',
    'How to tell: After the login button nothing happens. The browser console names form-action.',
    'Fix: Add http://localhost:4180 to form-action on the login page: browsers apply it to the redirects after a form',
    'too.',
    'The session cookie is not sent',
    'How to tell: The login page asks again though you are logged in at your application. The portal is another site:',
    'browsers do not send SameSite=Strict cookies when it redirects to you.',
    'Fix: Set the session cookie with SameSite=Lax and Path=/.',
    'A hook of your application answers first',
    'How to tell: The browser shows an error (401, 403, JSON), and the address bar shows /oauth/authorize.',
    'Fix: Exempt the three /oauth routes from the global login and CSRF hooks.'
  ].join(' '))
})

await t.test('they go when the browser comes back', async (t) => {
  const { open, start, pass, comeBack } = await waiting(t, await service(t))
  const path = await start()
  pass(60)
  await comeBack('ada')
  while ((await open(path)).includes('data-ended="false"')) await wait(20)
  t.match(await open(path), '<h1>Ada Lovelace is signed in</h1>')
  t.notMatch(await open(path), 'id="causes"')
  t.notMatch(await open('/'), 'id="stuck"')
})

/** A service whose login page answers as given. */
const loginPage = (t: Test, status: number, headers: Record<string, string>): Promise<string> =>
  httpServer(t, ({ url = '' }, response) => {
    if (!url.startsWith('/oauth/authorize')) response.writeHead(status, headers).end()
    else response.writeHead(302, { location: `/login?return_to=${encodeURIComponent(url)}` }).end()
  })

const SEEN: Array<[name: string, cause: string, sentence: RegExp, baseUrl: (t: Test) => Promise<string>]> = [
  ['a login page that is not there', CAUSES[0] as string, /\/login answered 404/, (t) => loginPage(t, 404, {})],
  ['a login address without return_to', CAUSES[1] as string, /\/login, has no return_to/,
    (t) => service(t, ['login-forgets'])],
  ['form-action', CAUSES[2] as string, /form-action &#39;self&#39;/, (t) => service(t, ['login-csp'])],
  ['a Strict cookie', CAUSES[3] as string, /cookie session with SameSite=Strict/,
    (t) => loginPage(t, 200, { 'set-cookie': 'session=1; Path=/; SameSite=Strict' })],
  ['a cookie path', CAUSES[3] as string, /cookie session with Path=\/login/,
    (t) => loginPage(t, 200, { 'set-cookie': 'session=1; Path=/login; SameSite=Lax' })],
  ['a hook', CAUSES[4] as string, /\/oauth\/authorize answered 401/,
    (t) => httpServer(t, (_request, response) => { response.writeHead(401).end() })]
]

for (const [name, cause, sentence, baseUrl] of SEEN) {
  await t.test(`what the simulator sees itself comes first: ${name}`, async (t) => {
    const { open, start, pass } = await waiting(t, await baseUrl(t))
    const path = await start()
    pass(6)
    const page = await open(path)
    t.match(page, new RegExp(`<ul class="causes"><li>\\s<h3>${cause} <span class="chip wait">Likely</span>`))
    t.match(page, sentence)
    t.equal(page.match(/>Likely</g)?.length, 1, 'and nothing else is accused')
  })
}

await t.test('redirects that do not end on a page of the service point to nothing', async (t) => {
  for (const mistake of ['login-loop', 'login-elsewhere'] as const) {
    const { open, start, pass } = await waiting(t, await service(t, [mistake]))
    const path = await start()
    pass(6)
    const page = await open(path)
    t.match(page, 'id="causes"')
    t.notMatch(page, '>Likely<')
  }
})

await t.test('the trial of an expired code counts down', async (t) => {
  const { app, open, start, pass, comeBack } = await waiting(t, await service(t))
  const path = await start('expired-code')
  await comeBack('ada')
  const page = await open(path)
  t.match(page, '<h1>Waiting until the code has expired</h1>')
  t.match(page, '<p>Waiting until the code has expired.</p>')
  t.match(page, 'id="countdown">61 s left<')
  t.match(page, 'class="step running"')
  pass(20.5)
  const later = await open(path)
  t.match(later, 'id="countdown">41 s left<')
  const announced = (text: string): string | undefined => /data-announced="([^"]*)"/.exec(text)?.[1]
  t.equal(announced(later), announced(page), 'a screen reader is not told each second')
  pass(100)
  t.match(await open(path), 'id="countdown">0 s left<')
  const again = await app.inject({ url: '/oauth/callback?code=x&state=y', headers: { host: 'localhost:4180' } })
  t.equal(again.statusCode, 400)
  t.match(await open(path), 'class="step running"', 'the return of another browser changes nothing')
})
