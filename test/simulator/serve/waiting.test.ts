// What the page says while a browser is at the service, or while a code expires. The clock is the test's own.
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { ruleOf } from '../../../lib/simulator/rules/all.ts'
import { simulator } from '../../../lib/simulator/serve/app.ts'
import { LOGIN_RULES } from '../../../lib/simulator/serve/trials.ts'
import { integration } from '../../../lib/testing/settings.ts'
import { httpServer } from '../../helpers/raw-server.ts'
import { listening, SETTINGS } from '../../helpers/spec-server.ts'
import type { Mistake } from '../../helpers/spec-server.ts'

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

await t.test('after five seconds the rules on the login are shown, and what to do', async (t) => {
  const { open, start, pass } = await waiting(t, await service(t))
  const path = await start()
  pass(4.9)
  t.notMatch(await open(path), 'id="causes"')
  t.notMatch(await open('/'), 'usual causes')
  pass(0.1)
  const page = await open(path)
  t.match(page, 'Take your time if you are logging in.')
  for (const { sentence } of LOGIN_RULES) t.match(page, `<h3>${sentence} <span class="chip`)
  t.notMatch(page, '<span class="chip bad">', 'a correct service: no rule fails')
  t.match(await open('/'), new RegExp(`href="${path}">Waiting for your service</a>\\s+\\(see the usual causes\\)`))
})

await t.test('they go when the browser comes back', async (t) => {
  const { open, start, pass, comeBack } = await waiting(t, await service(t))
  const path = await start()
  pass(60)
  await comeBack('ada')
  while ((await open(path)).includes('data-ended="false"')) await wait(20)
  t.match(await open(path), '<h1>Ada Lovelace is signed in</h1>')
  t.notMatch(await open(path), 'id="causes"')
  t.notMatch(await open('/'), 'usual causes')
})

/** A service whose login page answers as given. */
const loginPage = (t: Test, status: number, headers: Record<string, string>): Promise<string> =>
  httpServer(t, ({ url = '' }, response) => {
    if (!url.startsWith('/oauth/authorize')) response.writeHead(status, headers).end()
    else response.writeHead(302, { location: `/login?return_to=${encodeURIComponent(url)}` }).end()
  })

const SEEN: Array<[name: string, rule: string, got: RegExp, baseUrl: (t: Test) => Promise<string>]> = [
  ['a login page that is not there', 'login.page', /404 with an empty body at \/login/, (t) => loginPage(t, 404, {})],
  ['a login address without return_to', 'login.return', /login/, (t) => service(t, ['login-forgets'])],
  ['form-action', 'login.form-action', /form-action &#39;self&#39;/i, (t) => service(t, ['login-csp'])],
  ['a Strict cookie', 'login.cookie', /SameSite=Strict/i,
    (t) => loginPage(t, 200, { 'set-cookie': 'session=1; Path=/; SameSite=Strict' })],
  ['a redirect loop', 'login.page', /redirects that do not end/i, (t) => service(t, ['login-loop'])]
]

for (const [name, rule, got, baseUrl] of SEEN) {
  await t.test(`a rule that fails says what was got: ${name}`, async (t) => {
    const { open, start, pass } = await waiting(t, await baseUrl(t))
    const path = await start()
    pass(6)
    const [, list = ''] = /id="causes">[^]*?<ul>([^]*?)<\/ul>/.exec(await open(path)) ?? []
    const failed = list.split('<li>').filter((item) => item.includes('<span class="chip bad">fails</span>'))
    t.equal(failed.length, 1, 'and nothing else is accused')
    t.match(failed[0], `<h3>${ruleOf(rule).sentence} `)
    t.match(failed[0], got)
    t.match(failed[0], '<b>What to do:</b>')
  })
}

await t.test('the trial of an expired code says when the code is sent', async (t) => {
  const { app, open, start, comeBack } = await waiting(t, await service(t))
  const path = await start('expired-code')
  const began = Date.now()
  await comeBack('ada')
  const page = await open(path)
  t.match(page, '<h1>Waiting until the code has expired</h1>')
  const times = [began, Date.now()].map((time) => new Date(time + 61_000).toTimeString().slice(0, 8))
  t.ok(times.some((time) => page.includes(`<p>The code is sent at ${time}.</p>`)))
  const again = await app.inject({ url: '/oauth/callback?code=x&state=y', headers: { host: 'localhost:4180' } })
  t.equal(again.statusCode, 400)
  t.equal(await open(path), page, 'the return of another browser changes nothing, nor does time')
})
