// What a finding says: what was got, and the one thing to do. The rule alone does not tell a person.
import formbody from '@fastify/formbody'
import t from 'tap'
import type { Run } from '../../lib/check/run.ts'
import { Subject } from '../../lib/check/subject.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { textsIn } from '../../lib/flow/user.ts'
import { portal } from '../../lib/testing/index.ts'
import type { CheckedUsers, LoginPage, User } from '../../lib/testing/index.ts'
import { SETTINGS } from '../app.ts'
import { loginPage, onRequest } from './hosts/changes.ts'
import { CORRECT } from './hosts/correct.ts'
import { LOGIN } from './hosts/login.ts'
import { REACH } from './hosts/reach.ts'
import { RECORD } from './hosts/record.ts'
import { byCookie, byForm, checkable, people } from './hosts/row.ts'
import type { Change, Row } from './hosts/row.ts'
import { STORE } from './hosts/store.ts'
import { WHO } from './hosts/who.ts'

/** A check of an app that differs in this. */
async function checked (change: Change, users: CheckedUsers = change.users ?? people(byForm)): Promise<Run> {
  return portal({ app: checkable(change), ...SETTINGS, ...change.settings }).check(users)
}

/** A row of the tables. */
function rowOf (rows: Row[], name: string): Change {
  const [, change] = rows.find(([other]) => other === name) as Row
  return typeof change === 'function' ? change() : change
}

const SAID: Array<[rows: Row[], name: string, id: string, got: RegExp, fix: RegExp]> = [
  [REACH, 'a filter that lets browsers pass only', 'token.hook', /POST \/oauth\/token: 403/, /is not a browser/],
  [REACH, 'another prefix', 'authorize.hook', /404/, /check the base URL and the prefix/],
  [REACH, 'an index page for each path that nobody has, and another prefix', 'authorize.hook', /“Acme”/,
    /^Whatever the path below \/oauth, this is responded\. .*the base URL and the prefix/],
  [REACH, 'a guard: 401 without a session, and users by a cookie', 'authorize.hook', /GET \/oauth\/authorize: 401/,
    /a hook of the app/],
  [REACH, 'another client_id, and an error page of the app', 'authorize.registered',
    /^400 with the error invalid_request \(The client_id is not registered\.\)/, /client_id partner-123/],
  [REACH, 'a portal function that throws', 'authorize.registered', /500 with the error server_error/,
    /`portal` function/],
  [REACH, 'a portal function that knows every client', 'authorize.registered', /nobody has registered is not refused/,
    /Return null from the `portal` function/],
  [REACH, 'a bodyLimit of 64 bytes', 'token.hook', /and a shorter body is read$/, /^Raise the `bodyLimit`/],
  [LOGIN, 'a session of 4 s: milliseconds for seconds', 'login.cookie', /^the cookie sid expires after 4 s$/,
    /milliseconds for @fastify\/session/],
  [LOGIN, 'a cookie of guests that has the same name and a longer path', 'login.cookie',
    /two cookies sid: Path=\/oauth\/authorize at localhost, Path=\/ at localhost/,
    /Set the cookie of guests with the same/],
  [LOGIN, 'a session for /app, given as the login sets it', 'login.cookie', /is not sent to .*: it has Path=\/app$/,
    /Path=\//],
  [WHO, 'everybody may enter', 'authorize.access-denied', /a code, for the user who may not enter/, /Return null/],
  [RECORD, 'two processes, one with other roles', 'service.one-store', /different records: .*Administrator/,
    /the same version with the same configuration/],
  [RECORD, 'two processes, one with another redirect_uri', 'service.one-store',
    /gets different responses: .*not the registered/, /one configuration/],
  [RECORD, 'sessions in two of three processes', 'service.one-store', /./, /one store of sessions/],
  [RECORD, 'requests for the record at the same time get one response', 'user.other-user', /./, /request collapsing/],
  [RECORD, 'a name as e-mail address', 'user.record', /is not an e-mail address/, /who has none: what your support/],
  [STORE, 'the store fails now and then', 'service.one-store', /503 .*, then success$/, /^The app fails now and then\./]
]

for (const [rows, name, id, got, fix] of SAID) {
  t.test(name, async (t) => {
    const { rules } = await checked(rowOf(rows, name))
    t.match(rules.find((rule) => rule.id === id), { got, fix })
  })
}

t.test('what is untested names what would make it tell', async (t) => {
  const { ok, rules } = await checked({}, { user: byCookie('ada') })
  t.equal(ok, true)
  const untested = rules.filter(({ outcome }) => outcome === 'untested')
  t.match(Object.fromEntries(untested.map(({ id, reason }) => [id, reason])), {
    'address.https': /the base URL at which the portal reaches the app/,
    'login.cookie': /the whole response to one/,
    'login.return': /--login/,
    'authorize.access-denied': /--ineligible-login or --ineligible-cookie/,
    'user.other-user': /a second --login or --cookie/
  })
})

t.test('the same user twice is no second user', async (t) => {
  const { rules } = await checked({}, { user: [byForm('ada'), byForm('ada')] })
  const reason = /the second one .* is the first/
  t.match(rules.find(({ id }) => id === 'user.other-user'), { outcome: 'untested', reason })
})

t.test('a user who may not enter is judged by the only sign-in that the session serves', async (t) => {
  for (const name of ['a cookie that serves one sign-in', 'a login that serves one sign-in, by a script']) {
    const { rules } = await checked(rowOf(CORRECT, name))
    t.match(rules.find(({ id }) => id === 'authorize.access-denied'), { outcome: 'pass' }, name)
  }
})

t.test('somebody whose session is over is no user who may not enter, also where there is no login page', async (t) => {
  const users = { user: byCookie('ada'), ineligible: { cookies: 'sid=x' } }
  const { rules } = await checked({ login: false }, users)
  const reason = /a user who is logged in and may not enter/
  t.match(rules.find(({ id }) => id === 'authorize.access-denied'), { outcome: 'untested', reason })
})

t.test('two users who log in by functions are two', async (t) => {
  const by = (person: string): User => ({ login: (page) => page.post({ user: person }, page.url) })
  const { rules } = await checked({}, people(by))
  t.match(rules.find(({ id }) => id === 'user.other-user'), { outcome: 'pass' })
})

t.test('nobody is logged in: a cookie of something else, which browsers do not keep, is not named', async (t) => {
  const balancer = onRequest(async (_request, reply) => {
    reply.header('set-cookie', 'lb=1; Domain=production.example')
  })
  const { stopped, rules } = await checked(balancer, { user: { cookies: 'sid=of-yesterday' } })
  t.match(stopped, /^Nobody is logged in /)
  t.strictSame(rules.filter(({ outcome }) => outcome === 'fail'), [])
})

t.test('without a user: what to give', async (t) => {
  t.match(await checked({}, {}), { ok: false, stopped: /^No user was given: .*--login/ })
})

t.test('a limit of the login that is met at once: what the app says, and what to do', async (t) => {
  const limit = onRequest(async ({ url }, reply) =>
    url.startsWith('/login') ? reply.code(429).send({ message: 'Slow down' }) : undefined)
  const stopped = 'A rate limit of the login was met: GET /login: 429 with the message “Slow down”. ' +
    'Set it higher, or try again later.'
  t.match(await checked(limit), { ok: false, stopped })
})

/** Says on its login page what was typed. */
const echoing = (seen: string[]): Change => ({
  async prepare (app) {
    await app.register(formbody)
    app.addHook('onRequest', async ({ method, url, headers }) => {
      if (method !== 'POST' || !url.startsWith('/login')) seen.push(url, ...Object.values(headers).map(String))
    })
    app.post('/echo', async ({ body }, reply) =>
      reply.code(500).type('text/html').send(`<title>No ${textsIn(body).join(' or ')}</title>`))
  },
  ...loginPage(() =>
    '<form method="post" action="/echo"><input name="user"><input name="kennwort"><input name="pin"></form>')
})

t.test('nothing that was typed leaves but to the login’s own form, or is in the report', async (t) => {
  const seen: string[] = []
  const login = { user: 'ada+x@partner.example', kennwort: 'q.7', pin: 'Zx&9-long enough' }
  const run = await checked(echoing(seen), { user: { login } })
  const all = JSON.stringify([run, seen.filter((text) => !text.startsWith('/echo'))])
  t.match(run.rules.find(({ id }) => id === 'login.page'), { outcome: 'fail', got: /No ••••/ })
  for (const typed of Object.values(login)) t.notOk(all.includes(typed), typed)
  t.notMatch(all, /q\.7|Zx%269|Zx&amp;9/)
})

t.test('nothing that a login by a function posts is in the report', async (t) => {
  const posted = { user: 'ada+x@partner.example', more: { pin: 4711, kennwort: 'q.7' }, remember: true }
  const login = (page: LoginPage) => page.post(posted, '/echo', { json: true })
  const run = await checked(echoing([]), { user: { login } })
  t.match(run.rules.find(({ id }) => id === 'login.page'), { outcome: 'fail', got: /No ••••/ })
  t.notMatch(JSON.stringify(run), /ada\+x|4711|q\.7/)
})

t.test('what each of the people types, and a header of all of them, is hidden', async (t) => {
  const subject = new Subject(createIntegration({ baseUrl: 'http://127.0.0.1:1', ...SETTINGS }), {
    users: [{ login: { word: 'typed-of-ada' } }, { login: { word: 'typed-of-bob' } }],
    ineligible: { login: { word: 'typed-of-eve', long: 'hunter22', short: 'hunter2' } },
    headers: { authorization: 'Bearer typed-in-header' }
  })
  t.equal(subject.mask('hunter22, xhunter22y'), '••••••••, x••••••••y', 'a long text within a word, too')
  t.equal(subject.mask('hunter2, xhunter2y'), '••••••••, xhunter2y')
  for (const typed of ['typed-of-ada', 'typed-of-bob', 'typed-of-eve', 'typed-in-header']) {
    t.notMatch(subject.mask(`The page says: ${typed}.`), typed, typed)
  }
})
