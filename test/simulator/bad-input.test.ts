// The server is not the service, or does not respond: a plain sentence, an exit code, within a bounded time.
import { STATUS_CODES } from 'node:http'
import { createServer } from 'node:https'
import t from 'tap'
import type { Test } from 'tap'
import { CERTIFICATE, KEY } from '../helpers/certificate.ts'
import { FLAGS as CHECK_FLAGS } from '../../lib/simulator/check/check.ts'
import { FLAGS as SERVE_FLAGS } from '../../lib/simulator/serve/serve.ts'
import { Browser } from '../../lib/flow/browser.ts'
import { CookieJar } from '../../lib/flow/cookies.ts'
import { escapeJson } from '../../lib/flow/escape.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { listen } from '../helpers/listen.ts'
import { check, program, report } from '../helpers/program.ts'
import { freePort } from '../helpers/ports.ts'
import { httpServer, rawServer } from '../helpers/raw-server.ts'
import { listening, REDIRECT_URI, sessionOf, SETTINGS } from '../helpers/partner.ts'
import { respond, responding } from '../helpers/responses.ts'

const USER = ['--cookie', `${sessionOf('ada')}; SameSite=Lax`]
const REDIRECTED = 'HTTP/1.1 303 See Other\r\nSet-Cookie: sid=1\r\n\r\n'
const USER_VARIABLES = ['PORTAL_LOGIN', 'PORTAL_INELIGIBLE_LOGIN', 'PORTAL_COOKIE', 'PORTAL_INELIGIBLE_COOKIE']
/** The first lines of responses to a login that failed. */
const FAILURES = Object.entries(STATUS_CODES).filter(([status]) => Number(status) >= 400)
  .flatMap(([status, phrase]) => [`HTTP/1.1 ${status} ${phrase}`, `HTTP/2 ${status}`])

/** Sets the clipboard of a terminal, the colour, the direction of the text. */
const HOSTILE = '\x1b]52;c;ZXZpbA==\x07\u009b31m\u202e'

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
  ['a certificate that is not trusted', tlsServer,
    /^The certificate of .* is not trusted here; NODE_EXTRA_CA_CERTS/],
  ['a server that never responds', (t) => httpServer(t, () => {}),
    /gave no complete response within 0\.9 s\. See what the service/],
  ['a response that never ends', (t) => httpServer(t, (_request, response) => { response.write('<') }),
    /no complete response/],
  ['a response without bound', (t) => responding(t, 200, 'x'.repeat(1024 * 1024 + 1)), /more than a megabyte/]
]

async function tlsServer (t: Test): Promise<string> {
  return `https://localhost:${await listen(t, createServer({ cert: CERTIFICATE, key: KEY }))}`
}

for (const [what, service, sentence] of OTHERS) {
  await t.test(what, async (t) => {
    // Long enough for a busy machine, where there is a response.
    const timeout = what.includes('never') ? '0.9' : '60'
    t.match(await check(await service(t), [...USER, '--timeout', timeout]), { code: 2, out: '', err: sentence })
  })
}

await t.test('a server that dies under the check ends it', async (t) => {
  const { app, baseUrl } = await listening(t)
  let requests = 0
  app.server.on('request', (request) => { if (++requests > 30) request.socket.destroy() })
  const { code, stopped, rules, summary } = await report(baseUrl, USER)
  t.equal(code, 2)
  t.match(stopped, /closed the connection without a response\. See the log/)
  t.ok(rules.filter(({ reason }) => reason === 'the check ended before').length > 3)
  t.equal(summary.failed, 0, 'no reply is no failure')
})

await t.test('an interruption ends the waiting for a code to expire', async (t) => {
  const { baseUrl } = await listening(t)
  const stop = new AbortController()
  const wait = async (milliseconds: number) => {
    if (milliseconds < 60_000) return
    stop.abort()
    throw stop.signal.reason
  }
  t.match(await report(baseUrl, [...USER, '--code-lifetime', '3600'], { stop: stop.signal, wait }), {
    code: 2, stopped: 'The check was interrupted.'
  })
})

await t.test('the command line: what is missing or wrong is named', async (t) => {
  const needed = [
    '--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b',
    '--redirect-uri', 'http://localhost/cb'
  ]
  for (const [argv, sentence] of [
    [['check'], '--redirect-uri is needed.'],
    [['check', '--redirect-uri', 'x'], '--base-url is needed (or the environment variable PORTAL_BASE_URL).'],
    [['check', ...needed, '--redirect-uri', 'x'], '--redirect-uri must be an absolute URL.'],
    [['check', ...needed, '--base-url', 'localhost'], '--base-url must be an absolute http or https URL.'],
    [['check', ...needed, '--base-url', 'http://localhost?x'], '--base-url must be a URL without query and fragment.'],
    [['check', ...needed, '--level', 'boss'], '--level must be \'partner\' or \'client\'.'],
    [['check', ...needed, '--timeout', '0'], '--timeout must be a number from 0.1 to 600.'],
    [['check', ...needed, '--timeout', 'soon'], '--timeout must be a number'],
    [['check', ...needed, '--code-lifetime', '3601'], '--code-lifetime must be a number from 0 to 3600.'],
    [['check', ...needed, '--code-lifetime', ''], '--code-lifetime must be a number'],
    [['check', ...needed, '--login', 'ada'], '--login must look like name=value'],
    [['check', ...needed, '--ineligible-login', '=x'], '--ineligible-login must look like name=value'],
    [['check', ...needed, '--header', 'nonsense'], '--header must look like "name: value".'],
    [['check', '--nonsense'], 'Unknown option \'--nonsense\'. --help lists the flags.'],
    [['check', '--cokie', 'a=b'], 'Unknown option \'--cokie\'. Did you mean --cookie?'],
    [['serve', '--baseUrl=http://localhost:1'], 'Unknown option \'--baseUrl\'. Did you mean --base-url?'],
    [['check', '-x'], 'Unknown option \'-x\'. --help lists the flags.'],
    [['check', '--cookie'], 'Option \'--cookie <value>\' argument missing'],
    ...FAILURES.map((line) => [
      ['check', ...needed, '--cookie', `${REDIRECTED}${line}\r\nSet-Cookie: sid=1\r\n\r\nset-cookie: no=1`],
      `The login failed: the response in --cookie is ${line}.`
    ] as const),
    [['check', ...needed, '--ineligible-cookie', 'HTTP/2 200 \n\n'],
      'There is no cookie in --ineligible-cookie.'],
    [['check', ...needed, '--cookie', `${REDIRECTED}HTTP/1.1 200 OK\r\nSet-Cookie: sid=; Max-Age=0\r\n\r\n`],
      'There is no cookie in --cookie.'],
    [['check', ...needed, '--cookie', ''],
      '--cookie is empty: the login printed nothing.'],
    [['check', 'stray'], 'Unexpected argument \'stray\''],
    ...[
      ['check', ...needed, '--cookie', `HTTP/1.1 500 ${HOSTILE}\r\n\r\n`], ['check', `--${HOSTILE}`],
      ['check', HOSTILE], [HOSTILE], ['serve', ...needed, '--redirect-uri', `http://localhost/%ff${HOSTILE}`]
    ].map((argv) => [argv, '\\u001b]52;c;ZXZpbA'] as const),
    [['dance'], 'There is no command dance. The commands are: serve, check.'],
    [[], 'Usage: fastify-partner-sso <command>'],
    [['serve', ...needed.slice(0, 6), '--port', '4179', '--host', ''], '--host is needed.'],
    [['serve', '--client-id', 'a', '--client-secret', 'b'], '--base-url is needed'],
    [['serve', ...needed, '--port', '0'], '--port must be a number from 1 to 65535.'],
    ...['/', '/external-oauth/local', '/%ff'].map((path) => [
      ['serve', ...needed, '--redirect-uri', `http://localhost${path}`],
      `The simulator cannot respond at http://127.0.0.1:4180/external-oauth/local and http://localhost${path}: `
    ] as const),
    [['serve', ...needed, '--public-url', 'here'], '--public-url must be an absolute http or https URL.']
  ] as const) {
    const { code, err } = await program([...argv])
    t.equal(code, 2, argv.join(' '))
    t.match(err, sentence, argv.join(' '))
    const [command = '', ...flags] = argv
    const json = command === 'check' ? await program([command, '--json', ...flags]) : { out: '', err: '' }
    for (const text of [err, json.out, json.err]) {
      t.equal(escapeJson(text), text, `${argv.join(' ')}: nothing that the terminal obeys`)
    }
  }
})

await t.test('help', async (t) => {
  for (const argv of [['--help'], ['-h']]) {
    t.match(await program(argv), { code: 0, out: /^Usage: fastify-partner-sso <command>/ }, argv.join(' '))
  }
  for (const [command, own] of [['check', CHECK_FLAGS], ['serve', SERVE_FLAGS]] as const) {
    const { code, out } = await program([command, '-h'])
    t.equal(code, 0, command)
    t.ok(out.split('\n').every((line) => line.length <= 120), command)
    const flags = [...out.matchAll(/(?:^ {2}|, )--([a-z-]+)/gm)].map(([, name]) => name)
    t.strictSame(flags.sort(), [...Object.keys(own), 'help'].sort(), `${command} says every flag`)
    t.strictSame([...new Set(out.match(/PORTAL_[A-Z_]+/g))].sort(), [
      'PORTAL_BASE_URL', 'PORTAL_CLIENT_ID', 'PORTAL_CLIENT_SECRET',
      ...command === 'check' ? USER_VARIABLES : []
    ].sort(), command)
  }
})

await t.test('no control character of a hostile service reaches the terminal', async (t) => {
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    if (!url.startsWith('/oauth/authorize')) return respond(response, 401, { error: 'invalid_token' })
    return respond(response, 400, { error: 'invalid_request', error_description: `no ${HOSTILE}` })
  })
  for (const more of [[], ['--json']]) {
    const { out, err } = await check(baseUrl, [...USER, ...more])
    t.match(out, 'u001b]52;c;ZXZpbA==', more.join())
    t.notMatch(out + err, /\p{Cf}|(?!\n)\p{Cc}/u, more.join())
  }
  t.match(JSON.parse((await check(baseUrl, [...USER, '--json'])).out).summary, { failed: 1 })
  const report = JSON.stringify({ baseUrl: HOSTILE }, null, 2)
  t.notMatch(escapeJson(report), '\u202e')
  t.strictSame(JSON.parse(escapeJson(report)), { baseUrl: HOSTILE }, 'and the same value')
})

await t.test('no cookie and no header of the user leaves the service', async (t) => {
  const taken: string[] = []
  const other = await httpServer(t, ({ url = '', headers }, response) => {
    taken.push(`${url} ${headers.cookie} ${headers['x-user']}`)
    response.end()
  })
  let steps = 0
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname !== '/oauth/authorize') return response.writeHead(pathname === '/login' ? 200 : 401).end('<form>')
    const sent = `code=a-code-of-some-length-1&state=${searchParams.get('state')}`
    const back = `${String(searchParams.get('redirect_uri'))}?${sent}`
    const targets = [back, `${other}/login`, `/login?return_to=${encodeURIComponent(`${other}/oauth/authorize?x=1`)}`]
    return response.writeHead(302, { Location: targets[steps++ % 3] as string }).end()
  })
  await check(baseUrl, [...USER, '--header', 'x-user: ada'])
  t.ok(steps > 2)
  t.strictSame(taken, [])
})

await t.test('at most ten redirects are followed', async (t) => {
  let requests = 0
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    requests += 1
    const number = Number(/^\/(\d+)/.exec(url)?.[1] ?? 0)
    response.writeHead(number < 100 ? 302 : 200, { Location: `/${number + 1}` }).end()
  })
  const { at } = await new Browser(createIntegration({ baseUrl, ...SETTINGS }), new CookieJar()).open(`${baseUrl}/0`)
  t.strictSame([at, requests], ['loop', 11])
})

await t.test('values of --header and --ineligible-cookie are masked', async (t) => {
  const { baseUrl } = await listening(t, {
    options: {
      currentUser ({ headers: { authorization, cookie = '' } }, reply) {
        if (!cookie.includes('ineligible')) return cookie.includes('the-session') ? 'ada' : null
        return void reply.code(500).send({ message: `${authorization?.split(' ').at(-1)} ${cookie}` })
      }
    }
  })
  const secrets = ['--header', 'authorization: Token abcdefgh', '--ineligible-cookie', 'sid=ineligible-session']
  const { out } = await check(baseUrl, ['--cookie', 'sid=the-session; SameSite=Lax', ...secrets])
  t.match(out, '(•••••••• sid=••••••••)')
  t.notMatch(out, /abcdefgh|the-session|ineligible-session/)
})

await t.test('every request names the program', async (t) => {
  const agents = new Set<string | undefined>()
  const baseUrl = await httpServer(t, ({ headers }, response) => {
    agents.add(headers['user-agent'])
    response.writeHead(302, { Location: `${REDIRECT_URI}?error=server_error` }).end()
  })
  await check(baseUrl, USER)
  t.ok([...agents].every((agent) => agent?.includes('fastify-partner-sso')), [...agents].join())
})

await t.test('Ctrl-C during the first request is an interruption, and no timeout of the service', async (t) => {
  const stop = new AbortController()
  const baseUrl = await httpServer(t, () => stop.abort())
  t.match(await check(baseUrl, USER, { stop: stop.signal }), { code: 2, out: '', err: 'The check was interrupted.\n' })
})
