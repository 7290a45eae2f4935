// Whatever a server responds, a check ends by itself, within its budget, and is not ok where it judged nothing.
import t from 'tap'
import type { RequestListener } from 'node:http'
import type { Run } from '../../lib/check/run.ts'
import { run } from '../../lib/check/run.ts'
import type { SubjectOptions } from '../../lib/check/subject.ts'
import { Subject } from '../../lib/check/subject.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import type { LoginPage } from '../../lib/flow/user.ts'
import { clockOf } from '../clock.ts'
import { httpServer } from '../helpers/listen.ts'
import { partnerApp, SETTINGS } from '../app.ts'

interface Ended extends Run {
  /** Requests of the run. */
  requests: number
  /** Milliseconds that it waited for limits in all. */
  waited: number
}

/** A check of a service, with a short time for one response. No time passes where it waits. */
async function checked (baseUrl: string, options: Partial<SubjectOptions> = {}, timeout = 60_000): Promise<Ended> {
  let waited = 0
  let requests = 0
  const ended = await run(new Subject(createIntegration({ baseUrl, ...SETTINGS, timeout }), {
    users: [{ login: { user: 'ada' } }],
    wait: async (milliseconds) => { waited += milliseconds },
    onExchange: () => { requests++ },
    ...options
  }))
  return { ...ended, requests, waited }
}

const limit = (retryAfter?: string): RequestListener => (_request, response) => {
  response.writeHead(429, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end()
}

const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()

for (const value of [undefined, '-1', '0', '0.5', '1', '6', '60', 'soon', '1e9', inAnHour]) {
  t.test(`429 with Retry-After: ${value}`, async (t) => {
    const ended = await checked(await httpServer(t, limit(value)))
    t.match(ended, { ok: false, stopped: /^A rate limit ends the check/ })
    t.strictSame(ended.rules.filter(({ outcome }) => outcome !== 'untested'), [])
    t.ok(ended.requests <= 10, `${ended.requests} requests`)
    // Ten seconds for each of the three requests that are sent at once.
    t.ok(ended.waited <= 30_000, `${ended.waited} ms`)
  })
}

t.test('a response that drips', async (t) => {
  const baseUrl = await httpServer(t, (_request, response) => {
    const timer = setInterval(() => response.write('.'), 10)
    response.on('close', () => clearInterval(timer))
  })
  t.match(await checked(baseUrl, {}, 300), { ok: false, stopped: /gave no complete response within 0\.3 s/ })
})

t.test('a page that always leads on', async (t) => {
  let pages = 0
  const baseUrl = await httpServer(t, (_request, response) => {
    response.writeHead(302, { Location: `/${pages++}` }).end()
  })
  const { ok, rules, requests } = await checked(baseUrl)
  t.notOk(ok)
  t.match(rules.find(({ id }) => id === 'authorize.hook'), { outcome: 'fail' })
  t.ok(requests <= 150, `${requests} requests`)
})

t.test('more requests than any correct app needs, those that a limit has sent again included', async (t) => {
  let isLimited = false
  const app = partnerApp({
    prepare: (app) => app.addHook('onRequest', async ({ url }, reply) => {
      if (url === '/') isLimited = !isLimited
      return url === '/' && isLimited ? reply.code(429).header('retry-after', '0').send() : undefined
    })
  })
  t.teardown(() => app.close())
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  const login = async (page: LoginPage) => { for (let at = 0; at < 200; at++) await page.get('/') }
  const ended = await checked(baseUrl, { users: [{ login }] })
  const stopped = /^The check ended after 150 requests\. A correct app needs fewer/
  t.match(ended, { ok: false, requests: 150, stopped })
})

t.test('a check ends after two minutes', (t) => {
  const clock = clockOf(t)
  const { signal } = clock.run(() => new Subject(createIntegration({ baseUrl: 'http://127.0.0.1:1', ...SETTINGS })))
  clock.pass(119_999)
  t.equal(signal.aborted, false)
  clock.pass(1)
  t.match(signal.reason, { message: /^The check ended after 2 minutes\./ })
  t.end()
})

t.test('its time is over while a request or a login waits, or a limit is waited for', async (t) => {
  const never: RequestListener = () => {}
  const app = partnerApp()
  t.teardown(() => app.close())
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  const stopped = /^The check ended after [\d.e-]+ minutes\./
  t.match(await checked(await httpServer(t, never), { longest: 50 }), { ok: false, stopped })
  const login = () => new Promise<never>(() => {})
  t.match(await checked(baseUrl, { longest: 2000, users: [{ login }] }), { ok: false, stopped })
  const wait: SubjectOptions['wait'] = (_milliseconds, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  t.match(await checked(await httpServer(t, limit('1')), { longest: 50, wait }), { ok: false, stopped })
})

t.test('a limit that is met after the sign-in was judged: what passes is told, and it is not ok', async (t) => {
  const app = partnerApp({
    // Met after authorize.code was judged, and before the last rules.
    prepare (app) {
      let requests = 0
      app.addHook('onRequest', async ({ url }, reply) =>
        url.startsWith('/oauth') && ++requests > 40 ? reply.code(429).header('retry-after', '60').send() : undefined)
    }
  })
  t.teardown(() => app.close())
  const { ok, rules, stopped } = await checked(await app.listen({ port: 0, host: '127.0.0.1' }))
  t.equal(ok, false)
  t.match(stopped, /^A rate limit ends the check at its request \d+ of this path: \w+ \/oauth\/\w+: 429 .*trustProxy/)
  t.match(rules.find(({ id }) => id === 'authorize.code'), { outcome: 'pass' })
  t.match(rules.find(({ id }) => id === 'token.replay-revokes'), { outcome: 'untested', reason: stopped })
  t.notOk(rules.some(({ outcome }) => outcome === 'fail'))
})
