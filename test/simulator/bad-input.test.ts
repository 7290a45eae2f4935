// What goes in is not what it should be: a server that is not the service, or does not respond, flags, variables,
// output that would drive the terminal. A plain sentence, an exit code, within a bounded time.
import { createServer } from 'node:https'
import t from 'tap'
import type { Test } from 'tap'
import { escapeLines } from '../../lib/flow/escape.ts'
import { FLAGS as CHECK_FLAGS } from '../../lib/simulator/check/check.ts'
import { FLAGS as SERVE_FLAGS } from '../../lib/simulator/serve/serve.ts'
import { CERTIFICATE, KEY } from '../helpers/certificate.ts'
import { httpServer, listen, rawServer } from '../helpers/listen.ts'
import { PORTAL, sessionOf, startApp } from '../app.ts'
import { freePort } from '../helpers/ports.ts'
import { check, program, report } from '../helpers/program.ts'
import { responding } from '../helpers/responses.ts'

const USER = ['--cookie', `${sessionOf('ada')}; SameSite=Lax`]

const OTHERS: Array<[what: string, service: (t: Test) => Promise<string>, sentence: RegExp]> = [
  ['nothing listens', async () => `http://127.0.0.1:${await freePort()}`,
    /^Nothing listens at http:\/\/127\.0\.0\.1:\d+\. Start the service/],
  ['an unknown host', async () => 'http://no-such-host.invalid',
    /^The host name of http:\/\/no-such-host\.invalid is not known\./],
  ['an address that cannot be reached', async () => 'http://255.255.255.255',
    /^http:\/\/255\.255\.255\.255 cannot be reached: /],
  ['a server without HTTP', (t) => rawServer(t, (socket) => { socket.end('SSH-2.0-OpenSSH_9.2\r\n') }),
    /Something responds at http:\/\/127\.0\.0\.1:\d+, but not in HTTP\./],
  ['a server that hangs up', (t) => rawServer(t, (socket) => { socket.destroy() }),
    /closed the connection without a response/],
  ['https where http is spoken', async (t) => (await responding(t, 200)).replace('http:', 'https:'),
    /does not speak TLS/],
  ['a certificate that is not trusted',
    async (t) => `https://localhost:${await listen(t, createServer({ cert: CERTIFICATE, key: KEY }))}`,
    /^The certificate of .* is not trusted here; NODE_EXTRA_CA_CERTS/],
  ['a response that never ends', (t) => httpServer(t, (_request, response) => { response.write('<') }),
    /gave no complete response within 0\.9 s\. See what the service/],
  ['a response without bound', (t) => responding(t, 200, 'x'.repeat(1024 * 1024 + 1)), /more than a megabyte/]
]

for (const [what, service, sentence] of OTHERS) {
  t.test(what, async (t) => {
    // Long enough for a busy machine, where there is a response.
    const timeout = what.includes('never') ? '0.9' : '60'
    t.match(await check(await service(t), [...USER, '--timeout', timeout]), { code: 2, out: '', err: sentence })
  })
}

t.test('a server that dies under the check ends it', async (t) => {
  const { app, baseUrl } = await startApp(t)
  let requests = 0
  app.server.on('request', (request) => { if (++requests > 30) request.socket.destroy() })
  const { code, stopped, rules, summary } = await report(baseUrl, USER)
  t.equal(code, 2)
  t.match(stopped, /closed the connection without a response\. See the log/)
  t.ok(rules.filter(({ reason }) => reason === stopped).length > 3)
  t.equal(summary.failed, 0, 'no reply is no failure')
})

t.test('an interruption: of the waiting for a rate limit, of the first request', async (t) => {
  const limited = await httpServer(t, (_request, response) => response.writeHead(429, { 'Retry-After': '1' }).end())
  const stop = new AbortController()
  const wait = async () => {
    stop.abort()
    throw stop.signal.reason
  }
  t.match(await check(limited, [...USER, '--json'], { stop: stop.signal, wait }), {
    code: 2, out: '', err: 'The check was interrupted.\n'
  })
  const first = new AbortController()
  const silent = await httpServer(t, () => first.abort())
  t.match(await check(silent, USER, { stop: first.signal }), {
    code: 2, out: '', err: 'The check was interrupted.\n'
  })
})

/** Sets the clipboard of a terminal, the colour, the direction of the text. */
const HOSTILE = '\x1b]52;c;ZXZpbA==\x07\u009b31m\u202e'
const ESCAPED = '\\u001b]52;c;ZXZpbA'
const NEEDED = ['--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b']
const CHECK = ['check', ...NEEDED, '--redirect-uri', 'http://localhost/cb']
const SERVE = ['serve', ...NEEDED]

const COMMANDS: Array<[argv: string[], sentence: string]> = [
  [['check'], '--redirect-uri is needed.'],
  [['check', '--redirect-uri', 'x'], '--base-url is needed (or the environment variable PORTAL_BASE_URL).'],
  [[...CHECK, '--redirect-uri', 'x'], '--redirect-uri must be an absolute URL.'],
  [[...CHECK, '--base-url', 'localhost'], '--base-url must be an absolute http or https URL.'],
  [[...CHECK, '--level', 'boss'], '--level must be \'partner\' or \'client\'.'],
  [[...CHECK, '--timeout', '0'], '--timeout must be a number from 0.1 to 600.'],
  [[...CHECK, '--timeout', 'soon'], '--timeout must be a number'],
  [[...CHECK, '--login', 'ada'], "--login must look like 'user=ada&password=…'"],
  [[...CHECK, '--login', 'user=ada&secret'], '--login must look like'],
  [[...CHECK, '--ineligible-login', '=x'], '--ineligible-login must look like'],
  [[...CHECK, '--login', ''], '--login is empty: see whether'],
  [[...CHECK, '--login', 'user=ada', '--login', 'password=x'], 'have different fields, user and password: write all'],
  [[...CHECK, '--login', 'a=1', '--cookie', 'a=1', '--cookie', 'a=2'], '--login, --cookie, --cookie are 3 users.'],
  [[...CHECK, '--ineligible-login', 'a=1', '--ineligible-cookie', 'a=1'], 'are 2 users.'],
  [[...CHECK, '--cookie', ''], '--cookie is empty: see whether'],
  [[...CHECK, '--cookie', ' \n'], '--cookie is empty: see whether'],
  [[...CHECK, '--cookie', 'abc'], '--cookie has no cookie that is still good: give name=value'],
  [[...CHECK, '--cookie', 'sid=; Max-Age=0'], '--cookie has no cookie that is still good'],
  [[...CHECK, '--cookie', 'HTTP/1.1 401 Unauthorized\n\n'], 'There is no cookie in the response that --cookie is'],
  [[...CHECK, '--header', 'nonsense'], '--header must look like "name: value".'],
  [['check', '--nonsense'], 'Unknown option \'--nonsense\'. --help lists the flags.'],
  [['check', '-x'], 'Unknown option \'-x\'. --help lists the flags.'],
  [['check', '--cookie'], 'Option \'--cookie <value>\' argument missing'],
  [['check', 'stray'], 'Unexpected argument \'stray\''],
  [[...CHECK, '--ineligible-cookie', 'HTTP/2 200 \n\n'],
    'There is no cookie in the response that --ineligible-cookie is'],
  [['check', `--${HOSTILE}`], ESCAPED],
  [[HOSTILE], ESCAPED],
  [['dance'], 'There is no command dance: see --help.'],
  [[], 'Usage: fastify-partner-sso <command>'],
  [[...SERVE, '--host', ''], '--host is needed.'],
  [[...SERVE, '--port', '0'], '--port must be a number from 1 to 65535.'],
  [[...SERVE, '--public-url', 'here'], '--public-url must be an absolute http or https URL.']
]

t.test('the command line: what is missing or wrong is named', async (t) => {
  for (const [argv, sentence] of COMMANDS) {
    const { code, err } = await program(argv)
    t.equal(code, 2, argv.join(' '))
    t.match(err, sentence, argv.join(' '))
    t.equal(escapeLines(err), err, `${argv.join(' ')}: nothing that the terminal obeys`)
  }
})

t.test('users of the environment: what is wrong is named, and no value is shown', async (t) => {
  for (const [env, sentence] of [
    [{ PORTAL_LOGIN: 'ada-password' }, "PORTAL_LOGIN must look like 'user=ada&password=…'"],
    [{ PORTAL_LOGIN: 'user=ada-password', PORTAL_COOKIE: 'sid=x' }, 'PORTAL_LOGIN and PORTAL_COOKIE are both set'],
    [{ PORTAL_SECOND_LOGIN: 'user=ada-password' }, 'PORTAL_SECOND_LOGIN is a second user: give the first'],
    [{ PORTAL_COOKIE: 'ada-password' }, 'PORTAL_COOKIE has no cookie that is still good'],
    [{ PORTAL_INELIGIBLE_COOKIE: ' ' }, 'PORTAL_INELIGIBLE_COOKIE is empty']
  ] as const) {
    const { code, err } = await program(CHECK, { env })
    t.equal(code, 2, sentence)
    t.match(err, sentence, sentence)
    t.notMatch(err, 'ada-password', sentence)
  }
})

t.test('help', async (t) => {
  for (const argv of [['--help'], ['-h']]) {
    t.match(await program(argv), { code: 0, out: /^Usage: fastify-partner-sso <command>/ }, argv.join(' '))
  }
  const users = [
    'PORTAL_COOKIE', 'PORTAL_INELIGIBLE_COOKIE', 'PORTAL_INELIGIBLE_LOGIN', 'PORTAL_LOGIN', 'PORTAL_SECOND_COOKIE',
    'PORTAL_SECOND_LOGIN'
  ]
  for (const [command, own, more] of [['check', CHECK_FLAGS, users], ['serve', SERVE_FLAGS, []]] as const) {
    const { code, out } = await program([command, '-h'])
    t.equal(code, 0, command)
    t.ok(out.split('\n').every((line) => line.length <= 120), command)
    const flags = [...out.matchAll(/(?:^ {2}|, )--([a-z-]+)/gm)].map(([, name]) => name)
    t.strictSame(flags.sort(), [...Object.keys(own), 'help'].sort(), `${command} says every flag`)
    const variables = ['PORTAL_BASE_URL', 'PORTAL_CLIENT_ID', 'PORTAL_CLIENT_SECRET', ...more]
    t.strictSame(new Set(out.match(/PORTAL_[A-Z_]+/g)), new Set(variables), command)
  }
})

t.test('a hostile service: no control character and no secret reaches the terminal', async (t) => {
  const { baseUrl } = await startApp(t, {
    prepare: (app) => app.addHook('onRequest', async ({ headers: { authorization, cookie } }, reply) => {
      if (cookie?.includes('session') !== true) return
      const error_description = `${authorization?.split(' ').at(-1)} ${cookie.slice(0, 50)} ${HOSTILE}`
      return reply.code(400).send({ error: 'no', error_description })
    })
  })
  const secrets = ['--header', 'authorization: Token abcdefgh', '--ineligible-cookie', 'sid=ineligible-session']
  for (const more of [[], ['--json']]) {
    const { out, err } = await check(baseUrl, ['--cookie', 'sid=the-session; SameSite=Lax', ...secrets, ...more])
    t.match(out, 'u001b]52;c;ZXZpbA==', more.join())
    t.match(out, '••••••••', more.join())
    t.notMatch(out + err, /abcdefgh|the-session|ineligible-session|\p{Cf}|(?!\n)\p{Cc}/u, more.join())
  }
})

t.test('no cookie and no header of the user leaves the service, and every request names the program', async (t) => {
  const taken: string[] = []
  const other = await httpServer(t, ({ url = '', headers }, response) => {
    taken.push(`${url} ${headers.cookie} ${headers['x-user']}`)
    response.end()
  })
  const agents: Array<string | undefined> = []
  const users = new Set<unknown>()
  let steps = 0
  const baseUrl = await httpServer(t, ({ url = '', headers }, response) => {
    agents.push(headers['user-agent'])
    users.add(headers['x-user'])
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname !== '/oauth/authorize') return response.writeHead(pathname === '/login' ? 200 : 401).end('<form>')
    const back = `${PORTAL.redirectUri}?code=a-code-of-some-length-1&state=${searchParams.get('state')}`
    const targets = [`${other}/login`, `/login?return_to=${encodeURIComponent(`${other}/oauth/authorize?x=1`)}`, back]
    // Four times each: what is asked three times gets one response.
    const target = targets[Math.min(2, Math.trunc(steps++ / 4))]
    return response.writeHead(302, { Location: target as string }).end()
  })
  await check(baseUrl, [...USER, '--header', 'x-user: ada'])
  t.ok(steps > 2)
  t.strictSame(taken, [])
  t.ok(users.has('ada'), 'the header of the user is sent')
  t.ok(agents.every((agent) => agent?.includes('fastify-partner-sso')), agents.join())
})
