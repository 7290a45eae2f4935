// A partner checks a running app before the portal does.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { RULES } from '../../lib/check/rules.ts'
import { hookAt, PORTAL, sessionOf, startApp } from '../app.ts'
import { freePort } from '../helpers/ports.ts'
import { check, program, report } from '../helpers/program.ts'

const USERS = ['--login', 'user=ada', '--login', 'user=bob', '--ineligible-login', 'user=eve']

t.test('a correct app: every rule passes but that on https, which nobody tells on this machine; code 0', async (t) => {
  const { baseUrl } = await startApp(t)
  const { code, rules } = await report(baseUrl, USERS)
  const others = rules.filter(({ outcome }) => outcome !== 'pass').map(({ id, outcome }) => [id, outcome])
  t.strictSame([code, rules.length, others], [0, RULES.length, [['address.https', 'untested']]])
})

/** What becomes of the rule on a user who may not enter: it is tested where one is given. What a flag does: serve. */
type Denied = 'pass' | 'untested'

const WAYS: Array<[denied: Denied, flags: string[], env?: Record<string, string>]> = [
  ['pass', [...USERS, '--basic', '--pkce']],
  ['untested', ['--login', 'user=bob', '--cookie', 'theme=dark', '--level', 'client']],
  ['pass', ['--cookie', `${sessionOf('ada')}; Path=/; SameSite=Lax`, '--ineligible-cookie', sessionOf('eve')]],
  ['untested', ['--cookie', `HTTP/1.1 303 See Other\r\nSet-Cookie: ${sessionOf('ada')}; Path=/\r\n\r\n`,
    '--ineligible-cookie', 'sid=x']],
  ['untested', ['--header', `cookie: ${sessionOf('ada')}`]],
  ['pass', [], { PORTAL_LOGIN: 'user=ada&password=of-ada', PORTAL_INELIGIBLE_LOGIN: 'user=eve' }],
  ['pass', [], { PORTAL_COOKIE: sessionOf('ada'), PORTAL_INELIGIBLE_COOKIE: sessionOf('eve') }],
  // A flag wins over its variable.
  ['pass', [...USERS, '--client-secret', PORTAL.clientSecret],
    { PORTAL_BASE_URL: 'http://127.0.0.1:1', PORTAL_CLIENT_ID: 'another', PORTAL_CLIENT_SECRET: 'another' }]
]

t.test('a correct app by other flags, below a prefix, and with users by cookie, header or environment', async (t) => {
  const { baseUrl } = await startApp(t, { options: { prefix: '/app' } })
  for (const way of WAYS) {
    const [denied, flags, env] = way
    // `wait` is for a server that limits requests: there is none here.
    const settings = { env: { PORTAL_CLIENT_SECRET: PORTAL.clientSecret, ...env }, wait: async () => {} }
    const { code, stopped, rules } = await report(baseUrl, flags, settings)
    const row = JSON.stringify(way)
    t.strictSame([code, stopped, rules.filter(({ outcome }) => outcome === 'fail')], [0, undefined, []], row)
    t.equal(rules.find(({ id }) => id === 'authorize.access-denied')?.outcome, denied, row)
  }
})

t.test('the report names the rule, what was got and how to fix it, without secrets; code 1', async (t) => {
  const { baseUrl } = await startApp(t, hookAt('/oauth/token', 401, { error: 'Unauthorized', message: 'Log in' }))
  const { code, out, err } = await check(baseUrl, USERS, { wait: async () => {} })
  t.strictSame([code, err], [1, ''])
  t.match(out, /^FAIL token\.hook\n {2}rule Does the portal reach the plugin\?/m)
  t.match(out, /^ {2}got {2}the plugin does not respond: POST \/oauth\/token: 401 with/m)
  t.match(out, /^ {2}fix {2}Look for a hook of the app \(onRequest/m)
  t.match(out, /^pass {6}authorize\.hook: /m)
  t.match(out, /^untested {2}.*user\.record.*: token\.hook fails$/m)
  t.match(out, /^\d+ pass, 1 fail, 0 advice, \d+ untested\.\n$/m)
  t.notMatch(out, PORTAL.clientSecret)
})

t.test('nobody is logged in: one sentence, and code 2; a user who may not enter: a fault', async (t) => {
  const { baseUrl } = await startApp(t)
  const nobody = /^Nobody is logged in \(200 with text\/html \(“Log in”\) at \/login\): give all fields of the login/
  const nobodyGiven = /^No user was given: give one who may enter/
  t.match(await report(baseUrl), { code: 2, stopped: nobodyGiven, summary: { failed: 0 } })
  for (const [flags, expected] of [
    [[], { code: 2, out: '', err: nobodyGiven }],
    [['--login', 'user=mallory'], { code: 2, out: '', err: /^Nobody is logged in \(401/ }],
    [['--login', 'kennwort=x'], { code: 2, out: '', err: /No form of \/login has a field named kennwort/ }],
    [['--cookie', 'sid=x'], { code: 2, out: '', err: nobody }],
    [['--login', 'user=eve'], { code: 1, out: /user may not enter.*not_eligible/s }]
  ] as const) t.match(await check(baseUrl, [...flags]), expected, flags.join(' '))
})

t.test('a terminal shows which rule is being tried, and nothing of it is left; a pipe does not get it', async (t) => {
  const { baseUrl } = await startApp(t)
  const { err } = await check(baseUrl, USERS, { isTerminal: true })
  const shown = err.split('\r\x1b[K').slice(1)
  const expected = RULES.map(({ id }, at) => `Trying rule ${at + 1} of ${RULES.length}: ${id}`)
  t.strictSame(shown, [...expected, ''])
  t.equal((await check(baseUrl, USERS)).err, '')
  const nobody = await check(`http://127.0.0.1:${await freePort()}`, USERS, { isTerminal: true })
  t.match(nobody.err, '\r\x1b[KNothing listens at http', 'the sentence has a line of its own')
})

t.test('a run that a rate limit ends before it has judged a sign-in: code 2', async (t) => {
  for (const requests of [0, 4]) {
    let count = 0
    const { baseUrl } = await startApp(t, {
      prepare: (app) => app.addHook('onRequest', async (_request, reply) => {
        if (++count > requests) return reply.code(429).send()
      })
    })
    const { stopped, code, summary } = await report(baseUrl, USERS)
    t.strictSame([code, typeof stopped, summary.failed], [2, 'string', 0], `after ${requests} requests: ${stopped}`)
  }
})

t.test('a header is sent by each browser, also that of nobody, and by no request of the portal’s server', async (t) => {
  const portalHad = new Set<unknown>()
  const { baseUrl } = await startApp(t, {
    prepare: (app) => app.addHook('onRequest', async ({ url, headers }, reply) => {
      if (/^\/oauth\/(?:token|user)/.test(url)) portalHad.add(headers['x-staging'])
      else if (headers['x-staging'] !== 'the-password') return reply.code(401).send('Staging')
    })
  })
  t.match(await report(baseUrl, USERS), { code: 1 }, 'without it nobody gets through')
  const { code, err } = await report(baseUrl, [...USERS, '--header', 'x-staging: the-password'])
  t.strictSame([code, err, [...portalHad]], [0, '', [undefined]])
})

t.test('a failure, and then no response: both are reported, and the code is that of the failure', async (t) => {
  const { app, baseUrl } = await startApp(t, {
    loginPage: (_request, reply) => reply
      .headers({ 'content-type': 'text/html', 'content-security-policy': "form-action 'self'" })
      .send('<form method=post><input name=user></form>')
  })
  // After the login a check asks for a record, with a token that is longer than those that it makes up: from then on
  // nothing responds.
  let isDead = false
  app.server.prependListener('request', ({ headers, socket, url }) => {
    isDead ||= url === '/oauth/user' && String(headers.authorization).length > 60
    if (isDead) socket.destroy()
  })
  const { code, stopped, rules, summary } = await report(baseUrl, USERS)
  t.match([code, stopped, summary.failed], [1, /closed the connection without a response/, 1])
  t.equal(rules.find(({ outcome }) => outcome === 'fail')?.id, 'login.form-action')
  isDead = false
  const { out, err, code: sameCode } = await check(baseUrl, USERS)
  t.match([sameCode, err, out], [1, '', /^FAIL login\.form-action[^]*^untested .*closed the connection without/m])
})

t.test('an error that nobody expects: its stack, and code 2', async (t) => {
  const { baseUrl } = await startApp(t, {
    prepare: (app) => app.addHook('onRequest', async (_request, reply) =>
      reply.code(429).header('retry-after', 1).send())
  })
  const wait = async () => { throw new RangeError('no clock') }
  t.match(await check(baseUrl, USERS, { wait }), { code: 2, err: /^Unexpected error: RangeError: no clock\n +at / })
})

t.test('--version', async (t) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  for (const argv of [['--version'], ['check', '--version']]) {
    t.match(await program(argv), { code: 0, out: `${version}\n`, err: '' }, argv.join(' '))
  }
})
