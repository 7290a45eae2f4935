// A login by its fields: what is filled in and sent, and what is said where nobody is logged in.
import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { createIntegration } from '../../lib/flow/integration.ts'
import { browserOf, logIn, whyNotLoggedIn } from '../../lib/flow/user.ts'
import type { User } from '../../lib/flow/user.ts'
import type { Exchange } from '../../lib/flow/wire.ts'
import { portal } from '../../lib/testing/index.ts'
import { partnerApp, SETTINGS } from '../app.ts'

/** Logs in at the app, without a session before: why nobody is logged in, or null, and what was sent after the page. */
async function loggingIn (login: User['login'], page: (request: FastifyRequest, reply: FastifyReply) => string) {
  const app = partnerApp({ loginPage: (request, reply) => reply.type('text/html').send(page(request, reply)) })
  const integration = createIntegration({ app, ...SETTINGS })
  const exchanges: Exchange[] = []
  const browser = browserOf({
    ...integration,
    async send (request, signal) {
      const exchange = await integration.send(request, signal)
      exchanges.push(exchange)
      return exchange
    }
  })
  const at = await browser.open('http://localhost/login?return_to=%2F')
  const steps = await logIn(browser, at, login)
  return { why: whyNotLoggedIn(browser, at, login, steps), sent: exchanges.slice(1).map(({ request }) => request) }
}

const USER = '<form method=post><input type=hidden name=csrf value=abc><input name=user></form>'
const MAIL = '<form method=post><input name=mail></form>'

for (const [name, pageFor, login] of [
  ['one page', () => USER, { user: 'bob' }],
  ['a form by GET first', () => `<form action=/search><input name=user></form>${USER}`, { user: 'bob' }],
  ['two pages', (mail?: string) => mail === undefined ? MAIL : USER, { mail: 'a@b', user: 'bob' }]
] as const) {
  t.test(`a user is logged in: ${name}`, async (t) => {
    const app = partnerApp({
      loginPage: ({ body }, reply) => reply.type('text/html').send(pageFor((body as { mail?: string } | null)?.mail))
    })
    t.match(await portal({ app, ...SETTINGS }).signIn({ login }), { ok: true, record: { external_id: 'u-2' } })
  })
}

const COOKIE = /Log in by other means, and give the session cookie: --cookie, or `cookies` in tests, where/

t.test('a form that is not the login’s own, by POST, is not sent, and it is said why', async (t) => {
  for (const [page, why] of [
    ['<p>Log in', /^The page \/login has no form: a script makes it, or the login is elsewhere\. /],
    ['<form><input name=user><input name=kennwort></form>', /^The form of \/login is not sent by POST: in a URL, /],
    ['<form method=get><input name=user></form>', /^The form of \/login is not sent by POST/],
    ['<form method=post @submit="send"><input name=user></form>', /^A script sends the form of \/login\. /],
    ['<form method=post><input name=email><input name=p></form>',
      /^No form of \/login has a field named user or kennwort; it has email, p\. /],
    ['<form method=post><button>Go</button></form>', /^No form of \/login has a field named user or kennwort\. /]
  ] as const) {
    const result = await loggingIn({ user: 'ada', kennwort: 'of-ada' }, () => page)
    t.strictSame(result.sent, [], page)
    t.match(result.why, why, page)
    t.match(result.why, COOKIE, page)
  }
})

t.test('what was typed leaves by POST only, in the body, to the application itself', async (t) => {
  const login = { user: 'mallory-typed', kennwort: 'secret-typed' }
  for (const [attributes, bodies] of [
    ['method=post', ['user=mallory-typed&kennwort=secret-typed']],
    ['method=post action="/login?x=1"', ['user=mallory-typed&kennwort=secret-typed']],
    ['method=post action="https://other.example/login"', []],
    ['method=get', []]
  ] as const) {
    const { sent } = await loggingIn(login, () => `<form ${attributes}><input name=user><input name=kennwort></form>`)
    t.strictSame(sent.flatMap(({ body }) => body ?? []), bodies, attributes)
    t.notMatch(JSON.stringify(sent.map(({ url, headers }) => [url, headers])), /typed/, attributes)
  }
})

t.test('signIn() in a test, too, says why a form was not sent', async (t) => {
  const form = '<form><input name=user></form>'
  const app = partnerApp({ loginPage: (_request, reply) => reply.type('text/html').send(form) })
  t.match(await portal({ app, ...SETTINGS }).signIn({ login: { user: 'ada' } }), {
    ok: false,
    error: 'login_required',
    got: /^200 with text\/html at http:\S+\. The form of \/login is not sent by POST: .* Log in by other means/
  })
})

t.test('a next page that asks for more is named by its fields, and not quoted', async (t) => {
  const factor = '<p>Your code is 058096.</p><p hidden>Wrong code</p><form method=post><input name=code></form>'
  const leadingTo = (next: string) => loggingIn({ user: 'mallory' }, ({ method }, reply) => {
    // The app has set 401, for a user whom it does not know. This one is not refused: the login has a second page.
    reply.code(200)
    return method === 'POST' ? next : USER
  })
  const { why } = await leadingTo(factor)
  t.match(why, /^The login leads to \/login, which asks for code\. If that belongs to the login, give it as well; /)
  t.match(why, COOKIE)
  t.notMatch(why, /058096|Wrong code/)
  t.match((await leadingTo(USER + factor)).why, /^The login says: /, 'the login page itself is quoted')
})

t.test('a login that refuses says why in its own words, without what was typed', async (t) => {
  const refused = (text: string) => ({ method }: FastifyRequest, reply: FastifyReply): string => {
    if (method === 'POST') reply.code(401)
    return `<title>Log in</title>${USER}<p class=error>${method === 'POST' ? text : 'Welcome'}</p>`
  }
  const { why } = await loggingIn({ user: 'mallory', pin: '1234' }, refused('No account <b>mallory</b> &amp; no entry'))
  t.equal(why, 'The login says: “No account •••••••• & no entry”. The form has no field named pin; it has user.')
  const long = await loggingIn({ user: 'mallory' }, refused('x'.repeat(1000)))
  t.match(long.why, /^The login says: “x{160}…”\.$/)
  const cut = await loggingIn({ user: 'mallory' }, refused(`${'x'.repeat(156)} mallory`))
  t.match(cut.why, /^The login says: “x{156} •••…”\.$/, 'hidden, then cut')
  t.equal((await loggingIn({ user: 'mallory' }, refused('Welcome'))).why, null, 'nothing new')
  t.equal((await loggingIn({ user: 'ada' }, refused('no'))).why, null, 'a login that leads to a page of the app')
  const short = await loggingIn({ user: 'on' }, refused('Wrong: not on'))
  t.match(short.why, /“Wrong: not ••••••••”/, 'a short text within a word stays')
  const byFunction = await loggingIn((page) => page.post({ user: 'mallory' }), refused('Not mallory'))
  t.equal(byFunction.why, 'The login says: “Not ••••••••”.')
  t.equal((await loggingIn(undefined, refused('no'))).why, null, 'no login')
})
