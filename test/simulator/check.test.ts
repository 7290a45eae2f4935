// A partner checks a running service before the portal does.
import t from 'tap'
import { cookiesOf } from '../../lib/simulator/check/login-command.ts'
import { run } from '../../lib/simulator/run.ts'
import { FOREIGN_SECRET, nodeOauth, oidcProvider } from '../helpers/foreign-servers.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { failedRules, check, program, report } from '../helpers/program.ts'
import { CLIENT_ID, CLIENT_SECRET, listening, REDIRECT_URI } from '../helpers/spec-server.ts'

const USER = ['--cookie', 'sid=ada; Path=/; HttpOnly; SameSite=Lax']

await t.test('a server that keeps the spec: every rule holds, exit code 0', async (t) => {
  const { baseUrl, ineligible } = await listening(t, { lifetime: 0.5 })
  const result = await report(baseUrl, [...USER, '--ineligible-cookie', ineligible, '--code-lifetime', '0'])
  t.equal(result.code, 0)
  t.strictSame(result.rules.filter(({ outcome }) => outcome !== 'pass'), [])
  t.match(result.summary, { failed: 0, advice: 0, untested: 0 })
})

await t.test('also with Basic, PKCE, a prefix, the client level', async (t) => {
  const { baseUrl } = await listening(t, { prefix: '/app' })
  for (const more of [['--basic'], ['--pkce'], ['--basic', '--pkce']]) {
    const result = await report(baseUrl, [...USER, ...more])
    t.strictSame([result.code, failedRules(result)], [0, []], more.join(' '))
  }
  const client = await report(baseUrl, ['--cookie', 'sid=bob', '--level', 'client'])
  t.equal(client.code, 0)
})

await t.test('our plugin', async (t) => {
  const { url } = await startHost(t, { codeLifetime: 1 })
  const argv = ['check', '--json', '--base-url', url, '--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri, '--header', 'x-user: ada', '--code-lifetime', '1']
  const { code, out } = await program(argv, { env: { PORTAL_CLIENT_SECRET: PORTAL.clientSecret } })
  t.strictSame([code, failedRules(JSON.parse(out))], [0, []])
})

await t.test('servers that we did not write: what differs, and nothing else', async (t) => {
  const foreign = async (baseUrl: string) => {
    const argv = ['check', '--json', '--base-url', baseUrl, '--client-id', CLIENT_ID, '--redirect-uri', REDIRECT_URI, ...USER]
    const { code, out } = await program(argv, { env: { PORTAL_CLIENT_SECRET: FOREIGN_SECRET } })
    return { code, result: JSON.parse(out) }
  }
  const oidc = await foreign(await oidcProvider(t))
  t.equal(oidc.code, 1)
  t.strictSame(failedRules(oidc.result), [
    '!authorize.missing-redirect-uri', '?authorize.state-needed', '?authorize.head', '?authorize.referrer', '?authorize.framing',
    '!token.missing-redirect-uri', '?token.client-challenge', '?user.head'
  ])
  const node = await foreign(await nodeOauth(t))
  t.equal(node.code, 1)
  t.strictSame(failedRules(node.result), [
    '!authorize.missing-redirect-uri', '?authorize.repeated', '?authorize.head', '?authorize.no-store', '?authorize.referrer', '?authorize.framing',
    '?token.basic', '?token.client-challenge', '?token.replay-revokes', '?token.repeated', '?user.scheme-case', '?user.head', '?user.no-store'
  ])
  for (const bare of [await foreign(await oidcProvider(t, false)), await foreign(await nodeOauth(t, false))]) {
    t.equal(bare.code, 1)
    t.match(bare.result.rules[0], { id: 'sign-in', outcome: 'fail', got: /access_denied|invalid_scope/ })
  }
})

await t.test('the table names rule, section, what came and how to mend it; secrets are masked', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['any-response-type', 'referrer'] })
  const { code, out, err } = await check(baseUrl, ['--cookie', 'sid=ada'])
  t.equal(code, 1)
  t.match(out, /^RULE +SECTION +RESULT$/m)
  t.match(out, /^authorize\.response-type +spec §4\.1 +FAIL$/m)
  t.match(out, /^ {2}got {4}with response_type=unknown: 302 with a redirect to$/m)
  t.match(out, 'code=••••••••')
  t.match(out, /^ {2}fix {4}Accept response_type=code only\.$/m)
  t.match(out, /^authorize\.referrer +RFC 9700 §4\.2\.4 +advice$/m)
  t.match(out, /Untested, because SameSite of sid is not known/)
  t.match(out, /\d+ pass, 1 fail, 2 to consider, \d+ untested\. One rule fails\.\n$/)
  t.notMatch(out + err, /sid=ada|code=[A-Za-z0-9_-]{8}/)
  t.notMatch(out + err, CLIENT_SECRET)
  t.match(err, /^ 1\/68 pass {5}sign-in\n/)
})

await t.test('on a terminal: colours, one line that rewrites itself, the terminal’s width', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['any-response-type', 'any-grant'] })
  const { out, err } = await check(baseUrl, USER, 60)
  t.match(out, '\x1b[31mFAIL\x1b[0m')
  t.match(out, '2 rules fail.')
  t.ok(out.split('\n').filter((line) => line.startsWith('  \x1b[1m')).every((line) => line.length <= 60 + 8))
  t.match(err, '\r\x1b[2K 1/68 sign-in: A user who')
  t.notMatch(err, '\n')
  const plain = await program(['check', '--base-url', baseUrl, '--client-id', CLIENT_ID, '--redirect-uri', REDIRECT_URI, ...USER], { env: { PORTAL_CLIENT_SECRET: CLIENT_SECRET, NO_COLOR: '1' }, columns: 200 })
  t.notMatch(plain.out, '\x1b')
})

await t.test('a login command makes the user known: Set-Cookie lines, or its last line', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['strict-cookie'] })
  const seen = await report(baseUrl, ['--login-command', 'printf "HTTP/1.1 303\\r\\nSet-Cookie: sid=ada; SameSite=Strict\\r\\nset-cookie: old=; Max-Age=0\\r\\n\\r\\n"'])
  t.strictSame(failedRules(seen), ['!login.cookie'])
  const plain = await report(baseUrl, ['--login-command', 'echo logging in; echo "sid=ada"'])
  t.match([plain.code, failedRules(plain)], [0, []])
  for (const [command, sentence] of [['true', 'printed no cookie'], ['echo >&2 no such user; exit 3', 'failed: no such user.'], ['exit 3', 'failed: exit code 3.']] as const) {
    const { code, err } = await check(baseUrl, ['--login-command', command])
    t.equal(code, 2)
    t.match(err, sentence)
  }
})

await t.test('a Strict cookie that the session does not need is no failure', async (t) => {
  const { baseUrl } = await listening(t)
  t.strictSame(failedRules(await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax', '--cookie', 'csrf=1; SameSite=Strict'])), [])
})

await t.test('the environment gives what flags do not; a switch may be off', async (t) => {
  const { baseUrl } = await listening(t, { redirectUri: `${REDIRECT_URI}?tenant=7` })
  const env = { PORTAL_BASE_URL: baseUrl, PORTAL_CLIENT_ID: CLIENT_ID, PORTAL_CLIENT_SECRET: CLIENT_SECRET, PORTAL_REDIRECT_URI: `${REDIRECT_URI}?tenant=7`, PORTAL_COOKIE: 'sid=ada; SameSite=Lax', PORTAL_BASIC: 'false', PORTAL_PKCE: '1' }
  const { code, out } = await program(['check', '--json'], { env })
  t.strictSame([code, failedRules(JSON.parse(out))], [0, []])
})

await t.test('what nobody foresaw still ends in a sentence and exit code 2', async (t) => {
  let said = ''
  const stop = new AbortController().signal
  const { baseUrl } = await listening(t)
  const code = await run(['check', '--base-url', baseUrl, '--client-id', 'a', '--client-secret', 'b', '--redirect-uri', REDIRECT_URI, ...USER], { env: {}, out: () => { throw new Error('EPIPE') }, err: (text) => { said += text }, stop })
  t.equal(code, 2)
  t.match(said, /Unexpectedly: Error: EPIPE/)
})

await t.test('a login command that does not end', async (t) => {
  await t.rejects(cookiesOf('sleep 5', 100), { message: 'The login command failed: it took more than 0.1 s.' })
})

await t.test('nobody is logged in: it says so and does not run', async (t) => {
  const { baseUrl } = await listening(t)
  const { code, err, out } = await check(baseUrl, ['--json'])
  t.equal(code, 2)
  t.match(err, 'Nobody is logged in')
  t.match(JSON.parse(out), { stopped: /--cookie/ })
})

await t.test('a wrong cookie is a finding', async (t) => {
  const { baseUrl } = await listening(t)
  const result = await report(baseUrl, ['--cookie', 'other=1'])
  t.equal(result.code, 1)
  t.match(result.rules[0], { id: 'sign-in', outcome: 'fail', got: /step 5: 200 with text\/html \(“Log in”\)/, fix: /Log the user in first/ })
})
