// A partner checks a running service before the portal does.
import * as childProcess from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { loginOf } from '../../lib/simulator/check/login.ts'
import { RULES } from '../../lib/simulator/rules/all.ts'
import { run } from '../../lib/simulator/run.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { MISTAKES, partsOf } from '../helpers/mistakes.ts'
import { failedRules, check, program, report } from '../helpers/program.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { someRedis } from '../helpers/redis.ts'
import { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } from '../helpers/service.ts'
import { listening } from '../helpers/spec-server.ts'

const USER = ['--cookie', 'sid=ada; Path=/; HttpOnly; SameSite=Lax']

await t.test('a server that follows the spec: every rule passes, exit code 0', async (t) => {
  let now = Date.now()
  const { baseUrl } = await listening(t, {}, () => now)
  const more = [...USER, '--ineligible-cookie', 'sid=eve', '--code-lifetime', '60']
  const result = await report(baseUrl, more, { wait: async (milliseconds) => { now += milliseconds } })
  t.equal(result.code, 0)
  t.strictSame(result.rules.filter(({ outcome }) => outcome !== 'pass').map(({ id }) => id),
    ['token.other-client', 'token.mixed-credentials', 'user.token-lifetime'], 'they need other flags')
  t.match(result.summary, { failed: 0, advice: 0, untested: 3 })
})

await t.test('also with Basic, PKCE, a prefix, the client level', async (t) => {
  const { baseUrl } = await listening(t, { prefix: '/app' })
  const both = await report(baseUrl, [...USER, '--basic', '--pkce'])
  t.strictSame([both.code, failedRules(both)], [0, []])
  const client = await report(baseUrl, ['--cookie', 'sid=bob', '--level', 'client'])
  t.equal(client.code, 0)
  const known = await report(baseUrl, ['--header', 'x-session: sid=ada', '--ineligible-cookie', 'sid=eve'])
  t.match(known.rules.find(({ id }) => id === 'authorize.access-denied'), { outcome: 'pass' })
  const { out } = await check(baseUrl, USER)
  t.match(out, /^\d+ pass, 0 fail, 0 to consider, \d untested\.\nNothing fails\.\n\d rules were not tested: /m)
})

/** The flags of `check` for a host with the plugin. */
const HOST = ['--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri]
const HOST_USER = [...HOST, '--header', 'x-user: alice']
const HOST_SECRET = { PORTAL_CLIENT_SECRET: PORTAL.clientSecret }

await t.test('a correct host never fails: one run after the other, and several at once', async (t) => {
  const redis = await someRedis(t)
  const hosts = [['memory', {}], ['Redis', { redis: redis.url, keyPrefix: redis.keyPrefix }]] as const
  for (const [name, overrides] of hosts) {
    const { url } = await startHost(t, overrides)
    const checked = () => report(url, HOST_USER, { env: HOST_SECRET })
    for (const result of [await checked(), await checked(), ...await Promise.all([checked(), checked()])]) {
      t.strictSame([result.code, failedRules(result), result.stopped], [0, [], undefined], name)
    }
  }
})

await t.test('a form that drops return_to, which the cookie of the plugin may keep, is untested', async (t) => {
  const { url } = await startHost(t, { loginPage: '/login' }, {
    finish: (app) => app.get('/login', async (_request, reply) =>
      reply.type('text/html').send('<form method=post action="/login"><input name=user></form>'))
  })
  const { code, rules } = await report(url, HOST_USER, { env: HOST_SECRET })
  t.equal(code, 0)
  t.match(rules.find(({ id }) => id === 'login.return'), {
    outcome: 'untested',
    reason: /which the cookie partner-sso-return may keep: sign in once in a browser, by partner-sso-portal serve$/
  })
})

await t.test('processes that share no store: only service.one-store fails', async (t) => {
  const processes = await Promise.all(Array.from({ length: 4 }, () => startHost(t)))
  let requests = 0
  const baseUrl = await httpServer(t, (request, response) => {
    processes[requests++ % processes.length]?.app.server.emit('request', request, response)
  })
  const { code, out } = await check(baseUrl, HOST_USER, { env: HOST_SECRET })
  t.equal(code, 1)
  const [failure = ''] = out.split('\n\n')
  t.match(failure, /^FAIL service\.one-store /)
  t.match(failure.replace(/\s+/g, ' '), 'the same request got different responses, so processes do not share a store')
  t.equal(out.match(/^FAIL/gm)?.length, 1)
})

await t.test('the report names rule, section, what was got and how to fix it; secrets are masked', async (t) => {
  const { baseUrl } = await listening(t, partsOf(['any-response-type', 'referrer']))
  const { code, out, err } = await check(baseUrl, ['--cookie', 'sid=ada'])
  t.equal(code, 1)
  t.match(out, /^FAIL authorize\.response-type \(RFC 6749 §3\.1\.1\)$/m)
  t.match(out, /^ {2}rule Another response_type than code gives no code\.$/m)
  t.match(out, /^ {2}got {2}with response_type=unknown: 302 with a redirect to$/m)
  t.match(out, 'code=••••••••')
  t.match(out, /^ {2}fix {2}Accept response_type=code only\.$/m)
  t.match(out, /^advice authorize\.referrer \(RFC 9700 §4\.2\.4\)$/m)
  const line = out.replaceAll('\n', ' ')
  t.match(line, /login\.cookie \(SameSite of sid is not known/)
  t.match(line, /authorize\.error-redirect, authorize\.response-type-exact \(authorize\.response-type fails\)/)
  t.match(out, /^\d+ pass, 1 fail, 1 to consider, \d+ untested\.\nOne rule fails\.\n\d+ rules were not tested: /m)
  t.notMatch(out, /authorize\.framing/, 'what passes is counted')
  t.notMatch(out + err, /sid=ada|code=[A-Za-z0-9_-]{8}/)
  t.notMatch(out + err, CLIENT_SECRET)
  t.equal(err, '')
})

await t.test('on a terminal: colours, one line that rewrites itself, the width of the terminal', async (t) => {
  const { baseUrl } = await listening(t, partsOf(['any-response-type', 'any-grant']))
  const { out, err } = await check(baseUrl, USER, { columns: 40 })
  t.match(out, '\x1b[31mFAIL\x1b[39m')
  t.match(out, '2 rules fail.')
  t.strictSame(stripVTControlCharacters(out).split('\n').filter((line) => line.length > 40), [])
  t.match(err, `\r\x1b[2K  1/${RULES.length} address.endpoints: The three`)
  t.notMatch(err, '\n')
  const env = { PORTAL_CLIENT_SECRET: CLIENT_SECRET, NO_COLOR: '1' }
  t.notMatch((await check(baseUrl, USER, { env, columns: 200 })).out, '\x1b')
})

await t.test('a whole response makes the user known: its cookies, and whether the login redirects', async (t) => {
  const { baseUrl } = await listening(t, MISTAKES['login-csp'])
  const head = (status: string) => `HTTP/1.1 ${status}\r\nSet-Cookie: sid=ada; SameSite=Strict\r\n` +
    'set-cookie: old=; Max-Age=0\r\n\r\nbody: set-cookie: other=1\r\n'
  const challenge = 'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm="partner"\r\n\r\n'
  const earlier = challenge + 'HTTP/1.1 303 See Other\r\nSet-Cookie: csrf=1; SameSite=Strict\r\n' +
    'Set-Cookie: sid=eve; Path=/\r\n\r\n'
  t.strictSame(failedRules(await report(baseUrl, ['--cookie', head('303 See Other')])),
    ['!login.cookie', '!login.form-action'])
  t.strictSame(failedRules(await report(baseUrl, ['--cookie', head('200 OK')])),
    ['!login.cookie', '?login.form-action'])
  const followed = await report(baseUrl, ['--cookie', earlier + head('200 OK')])
  t.strictSame(failedRules(followed), ['!login.cookie', '!login.form-action'], 'the cookie that was set last')
  t.match(followed.rules.find(({ id }) => id === 'login.cookie')?.got, /on csrf, sid;/, 'those of each response')
})

await t.test('of several logins one that redirects is enough; without a response none is known to', (t) => {
  const head = (status: string) => `HTTP/1.1 ${status}\r\nSet-Cookie: sid=ada\r\n\r\n`
  const [redirected, shown] = [head('303 See Other'), head('200 OK')]
  for (const [given, redirects] of [
    [[], false], [['sid=ada'], false], [[shown], false], [[redirected], true], [[redirected, shown], true],
    [[shown, redirected], true], [['csrf=1', redirected], true], [['csrf=1', shown], false]
  ] as const) t.equal(loginOf('cookie', [...given]).redirects, redirects, JSON.stringify(given))
  t.end()
})

await t.test('a Strict cookie that the session does not need fails no rule', async (t) => {
  const { baseUrl } = await listening(t)
  const cookies = ['--cookie', 'sid=ada; SameSite=Lax', '--cookie', 'csrf=1; SameSite=Strict']
  t.strictSame(failedRules(await report(baseUrl, cookies)), [])
})

await t.test('the environment gives address, client_id and secret', async (t) => {
  const { baseUrl } = await listening(t)
  const env = { PORTAL_BASE_URL: baseUrl, PORTAL_CLIENT_ID: CLIENT_ID, PORTAL_CLIENT_SECRET: CLIENT_SECRET }
  const given = ['--redirect-uri', REDIRECT_URI, '--pkce', '--timeout', '60', ...USER]
  const { code, out } = await program(['check', '--json', ...given], { env })
  t.strictSame([code, failedRules(JSON.parse(out))], [0, []])
  const others = { PORTAL_BASE_URL: 'http://localhost:1', PORTAL_CLIENT_ID: 'other', PORTAL_CLIENT_SECRET: 'other' }
  const result = await report(baseUrl, ['--client-secret', CLIENT_SECRET, ...USER], { env: others })
  t.strictSame([result.code, failedRules(result)], [0, []], 'flags come first')
})

await t.test('an unexpected error ends in a sentence and exit code 2, too', async (t) => {
  let said = ''
  const stop = new AbortController().signal
  const { baseUrl } = await listening(t)
  const argv = [
    'check', '--base-url', baseUrl, '--client-id', 'a', '--client-secret', 'b', '--redirect-uri', REDIRECT_URI
  ]
  const out = () => { throw new Error('EPIPE') }
  const env = {}
  const code = await run([...argv, ...USER], { env, out, err: (text) => { said += text }, stop })
  t.equal(code, 2)
  t.match(said, /Unexpected error: Error: EPIPE/)
})

await t.test('nobody is logged in: the check stops and says so; rules that failed before are reported', async (t) => {
  const { baseUrl } = await listening(t)
  t.match(await report(baseUrl), { code: 2, err: 'Nobody is logged in', stopped: /--cookie/ })
  const broken = await listening(t, MISTAKES['login-404'])
  const result = await report(broken.baseUrl)
  t.strictSame([result.code, failedRules(result)], [1, ['!login.page']])
  t.match(result.stopped, 'Nobody is logged in')
})

await t.test('nobody is logged in and there is no login page', async (t) => {
  const { url } = await startHost(t)
  const checked = (...more: string[]) => check(url, [...HOST, ...more], { env: HOST_SECRET })
  t.match(await checked(), { code: 2, out: '', err: /^Nobody is logged in .*option loginPage names one\.\n$/ })
  t.match(await checked('--cookie', 'sid=1'), { code: 2, out: '', err: /^The cookie sid was sent .*loginPage/ })
})

await t.test('what is not registered is named with the words of the service', async (t) => {
  const { url } = await startHost(t)
  const failures = async (...more: string[]) => {
    const { rules } = await report(url, [...HOST_USER, ...more], { env: HOST_SECRET })
    return rules.filter(({ outcome }) => outcome === 'fail')
  }
  t.match(await failures('--redirect-uri', 'https://portal.example/other'), [{
    id: 'authorize.code',
    got: /The redirect_uri is not the registered one\./,
    fix: 'Register exactly https://portal.example/other at the service'
  }])
  t.match(await failures('--client-id', 'nobody'), [{ got: /client_id is not registered/, fix: /client_id nobody/ }])
})

await t.test('the recipe of the help for a CI job: what fails, and the exit code of the check', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const { out: help } = await program(['check', '--help'])
  const recipe = String(help.split('fails as the check does:\n')[1]).replace(' … ', ' ')
  const { baseUrl } = await listening(t, MISTAKES['any-grant'])
  const cases: Array<[given: string[], log: RegExp, code: number]> = [
    [USER, /^token\.grant-type: 200 with application\/json\n\n$/, 1],
    [[], /^Nobody is logged in .*\n$/, 2]
  ]
  for (const [given, log, expected] of cases) {
    const { out, code } = await check(baseUrl, ['--json', ...given])
    writeFileSync(join(folder, 'printed'), out)
    writeFileSync(join(folder, 'partner-sso-portal'), `#!/bin/sh\ncat printed; exit ${code}\n`, { mode: 0o755 })
    const env = { ...process.env, PATH: `${folder}:${String(process.env.PATH)}` }
    const ran = childProcess.spawnSync('sh', ['-c', recipe], { cwd: folder, env, encoding: 'utf8' })
    t.strictSame([ran.status, ran.stderr], [expected, ''], given.join(' '))
    t.match(ran.stdout, log, given.join(' '))
    t.equal(readFileSync(join(folder, 'check.json'), 'utf8'), out, given.join(' '))
  }
})

await t.test('--version', async (t) => {
  for (const argv of [['--version'], ['check', '--version']]) {
    t.match(await program(argv), { code: 0, out: /^\d+\.\d+\.\d+\n$/ }, argv.join(' '))
  }
})
