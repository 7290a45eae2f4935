import { unescape } from 'node:querystring'
import type { Arrival } from '../flow/browser.ts'
import { Browser, codeOf, targetOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { CookieJar } from '../flow/cookies.ts'
import { describe } from '../flow/failure.ts'
import type { Headers } from '../flow/wire.ts'
import { header, statusOf } from '../flow/wire.ts'
import { alike, OF_APP, whyNobody } from './login.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, Stop, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { enter, lastTry } from './session.ts'
import type { Subject } from './subject.ts'
import { becameOf, hasCode, notThePlugin, reasonsOf } from './voice.ts'

const HOOK = 'See `err` in the log line of the app: '

/**
 * What the plugin says of a browser without a session. It comes before the login: with a
 * `currentUser` that throws or finds a user there is no login page.
 */
export const LOGIN_NEEDED: Rule = {
  id: 'authorize.login-needed',
  severity: 'must',
  sentence: 'A browser without a session is that of nobody: it gets no code, and a login.',
  fix: 'Let `currentUser` return null where nobody is logged in.',
  isGate: true,
  test: async (subject) => {
    const { arrival } = await subject.nobody()
    const got = describe(arrival.exchange)
    expect(codeOf(arrival) === null, 'a code, without any session')
    const reasons = reasonsOf(arrival.exchange)
    expect(
      !reasons.includes('not_eligible'),
      `nobody is logged in, and the plugin gets a user who may not enter: ${got}`,
      {
        reasons,
        fix: '`currentUser` returns something for a browser without a session, such as {}: return null there.'
      }
    )
    expect(!reasons.includes('current_user_failed'), got, {
      reasons,
      fix:
        `${HOOK}most often \`currentUser\` reads a property of a user who is not there (request.session.user.id). ` +
        'Return null where nobody is logged in.'
    })
  }
}

/** Who gets in? */
export const WHO: readonly Rule[] = [
  {
    id: 'authorize.code',
    severity: 'must',
    sentence:
      'A browser whose user is logged in is redirected to the redirect_uri with a code and the state.',
    fix: 'Try the sign-in in a browser: fastify-partner-sso serve shows every step.',
    isGate: true,
    test: codeIsIssued
  },
  {
    id: 'authorize.forged-session',
    severity: 'must',
    sentence: 'A session that somebody else made up or changed is that of nobody.',
    fix:
      'Sign the session cookie or token, and verify the signature (request.unsignCookie; @fastify/session), or ' +
      'keep a random identifier in it.',
    test: forgedSession
  },
  {
    id: 'authorize.claimed-user',
    severity: 'must',
    sentence: 'A user who is only named, in a header or the query, is nobody.',
    fix:
      'Do not take the user from a header or parameter that anybody can send; a gateway in front must remove it from ' +
      'requests of others.',
    test: claimedUser
  },
  {
    id: 'authorize.eligibility',
    severity: 'must',
    sentence: 'A user who may not enter gets no code.',
    fix: 'Return null from `portalEligibility` for this user.',
    test: async (subject) => {
      const { ineligible } = subject.options.material
      const arrival = ineligible ?? lastTry(await subject.ineligible())
      expect(codeOf(arrival) === null, 'a code, for the user who may not enter')
    }
  },
  {
    id: 'authorize.access-denied',
    severity: 'must',
    sentence:
      'A user who may not enter is sent back to the portal with access_denied, or gets a page that says why.',
    fix: 'Return null from `portalEligibility` for a user who may not enter, or send a page.',
    test: accessDenied
  }
]

/** The redirect of the logged-in user, compared with what the plugin sends. */
async function codeIsIssued (subject: Subject): Promise<void> {
  if (subject.options.users.length === 0) throw await withoutUser(subject)
  const session = await subject.session()
  const arrival = lastTry(session)
  if (codeOf(arrival) === null) throw await whyNoCode(subject, session, arrival)
  // Each try is one: the login itself may lead back to another address.
  for (const one of [...session.steps, ...session.tries]) if (codeOf(one) !== null) isUnchanged(subject, one)
}

async function withoutUser (subject: Subject): Promise<Stop> {
  const { arrival } = await subject.nobody()
  return new Stop(
    `Nobody is logged in (${describe(arrival.exchange).replace(/\?\S*/, '')}): give a login, a cookie or a ` +
      'header of a user who may enter.'
  )
}

/** The whole `Location` is the redirect_uri with code and state. */
function isUnchanged ({ integration: { redirectUri } }: Subject, arrival: Arrival): void {
  const location = new URL(targetOf(arrival) as string)
  const given = new URL(location)
  for (const name of ['code', 'state', 'iss']) location.searchParams.delete(name)
  const parts = ({ origin, pathname, searchParams }: URL): string =>
    JSON.stringify([origin, pathname, ...[...searchParams].sort()])
  if (parts(location) !== parts(new URL(redirectUri))) {
    throw new Failed(`the code is sent to ${location.href}, and the redirect_uri is ${redirectUri}`, {
      fix: 'A proxy (nginx: proxy_redirect) or an onSend hook rewrites the Location of redirects: leave it as it is.'
    })
  }
  const states = given.searchParams.getAll('state')
  const sent = arrival.hops
    .map(({ request }) => new URL(request.url))
    .filter(({ pathname }) => pathname.endsWith('/oauth/authorize'))
    .at(-1)
  expect(
    states.length === 1 && states[0] === sent?.searchParams.get('state'),
    `${states.length} state in the redirect, not the one that was sent`,
    { rule: 'authorize.state' }
  )
}

async function whyNoCode (subject: Subject, session: Session, arrival: Arrival): Promise<Error> {
  const { at, exchange } = arrival
  const reasons = reasonsOf(exchange)
  const got = describe(exchange)
  if (reasons.includes('not_eligible')) {
    return new Failed(`this user may not enter: ${got}`, {
      reasons,
      fix: 'Give a user who may. If this one may, `portalEligibility` returned null, or nothing (a forgotten return).'
    })
  }
  if (reasons.includes('not_logged_in')) whyNobody(subject, session)
  if (reasons.includes('current_user_failed')) {
    return new Failed(got, {
      reasons,
      fix: `${HOOK}a function of the app threw, or the record of this user breaks a rule (\`rule\`).`
    })
  }
  const isOfApp = reasons.some((reason) => OF_APP.includes(reason))
  const became = becameOf(exchange, isOfApp ? 'authorize.code' : 'authorize.hook')
  if (became !== null) return became
  if (alike(arrival, (await subject.nobody()).arrival)) whyNobody(subject, session)
  const isAtEndpoint = arrival.url.split('?')[0] === subject.integration.authorizeUrl
  if (isAtEndpoint && statusOf(exchange) >= 400) return notThePlugin(exchange, 'authorize')
  const { pathname } = new URL(arrival.url)
  return new Failed(
    at === 'loop'
      ? `redirects that do not end, the last ${got}`
      : `after the login the browser is at ${pathname}: ${got}`
  )
}

async function accessDenied (subject: Subject): Promise<void> {
  const { ineligible } = subject.options.material
  const arrival = ineligible ?? lastTry(await subject.ineligible())
  const got = describe(arrival.exchange)
  if (codeOf(arrival) !== null) throw new Untested('authorize.eligibility fails')
  if (arrival.at === 'callback') {
    const { searchParams } = new URL(arrival.callbackUrl)
    const reasons = reasonsOf(arrival.exchange)
    expect(searchParams.get('error') === 'access_denied', got, {
      reasons,
      fix: `${HOOK}\`portalEligibility\` throws for this user, or gives a record that breaks a rule.`
    })
    return expect(searchParams.has('state'), 'access_denied without the state', {
      rule: 'authorize.error-redirect'
    })
  }
  if (ineligible === undefined && alike(arrival, (await subject.nobody()).arrival)) {
    const { back, set } = await subject.ineligible()
    expect(back === null && set.length === 0, `after the login the login comes again: ${got}`)
    throw new Untested('it needs a user who is logged in and may not enter: this one is not logged in')
  }
  // `portalEligibility` may send a page of its own.
  const isPage =
    /html/.test(header(arrival.exchange.response, 'content-type')) && statusOf(arrival.exchange) < 500
  expect(arrival.at === 'page' && isPage, got)
}

/** The cookies of the session, each changed in a way that only a verified one survives. */
async function forgedSession (subject: Subject): Promise<void> {
  const session = await subject.session()
  const { browser, user } = session
  const cookies = browser.jar.all().filter(({ name }) => !/partner-sso-return$/.test(name))
  const own =
    session.set.length > 0
      ? cookies.filter(({ name }) => session.set.some((one) => one.name === name))
      : cookies
  const claims = await claimsOf(subject)
  for (const cookie of own.filter(({ value }) => readings(value).some((text) => claims.includes(text)))) {
    // Alone it tells whether it is the session; another user has one of the same name perhaps.
    const isIn = await isIssued(subject, new CookieJar([cookie]), [])
    expect(!isIn, `the cookie ${cookie.name} is what the user is called: anybody can write it`)
  }
  const headers = Object.entries(user.headers ?? {})
  // Sessions that are counted: another login has the next number.
  if (user.login !== undefined && own.some(({ value }) => COUNTED.test(value))) await enter(subject, user)
  for (const forged of forgeries(own, headers)) {
    const others = cookies.filter(({ name }) => forged.cookie?.name !== name)
    const jar = new CookieJar([...others, ...(forged.cookie === undefined ? [] : [forged.cookie])])
    const isIn = await isIssued(subject, jar, forged.headers ?? headers)
    // Without this cookie the user may be known as well: then it is not the session.
    const isKept = isIn && forged.cookie !== undefined && (await isIssued(subject, new CookieJar(others), headers))
    expect(!isIn || isKept, `${forged.what} still gets a code`)
  }
  if (own.length === 0 && !headers.some(([, value]) => isSigned(value))) {
    throw new Untested('it needs a session in a cookie or a signed token')
  }
}

/** A value as it is, and decoded in ways that keep it readable. */
const readings = (value: string): string[] => {
  const text = unescape(value)
  return [text, ...(['base64', 'hex'] as const).map((encoding) => Buffer.from(text, encoding).toString())]
}

/** Whether a browser with these cookies and headers gets a code. */
async function isIssued (subject: Subject, jar: CookieJar, headers: Headers): Promise<boolean> {
  const exchange = await subject.ask(new Browser(subject.integration, jar, headers))
  return hasCode(exchange)
}

const COUNTED = /^\d{1,9}$/

interface Forgery {
  what: string
  cookie?: Cookie
  headers?: Headers
}

function forgeries (cookies: Cookie[], headers: Headers): Forgery[] {
  const counted = cookies
    .filter(({ value }) => COUNTED.test(value))
    .flatMap((cookie): Forgery[] =>
      [-1, 1].map((step) => ({
        what: `the cookie ${cookie.name} with another number`,
        cookie: { ...cookie, value: String(Number(cookie.value) + step) }
      }))
    )
  const ofCookies = cookies
    .filter(({ value }) => value.length > 3)
    .flatMap((cookie): Forgery[] => [
      {
        what: `the cookie ${cookie.name} with a changed signature or identifier`,
        cookie: { ...cookie, value: changed(cookie.value) }
      },
      ...reencoded(cookie),
      ...(cookie.value.includes('.')
        ? [
            {
              what: `the cookie ${cookie.name} without its signature`,
              cookie: { ...cookie, value: cookie.value.replace(/\.[^.]*$/, '') }
            }
          ]
        : [])
    ])
  const ofHeaders = headers
    .filter(([, value]) => isSigned(value))
    .map(([name, value]): Forgery => ({
      what: `the header ${name} with a changed signature`,
      headers: [...headers.filter((one) => one[0] !== name), [name, changed(value)]]
    }))
  return [...counted, ...ofCookies, ...ofHeaders]
}

/** JSON in Base64, alone or as a part of a JWT, with a member more: its signature is wrong then. */
function reencoded (cookie: Cookie): Forgery[] {
  const parts = unescape(cookie.value).split('.')
  return parts.flatMap((part, at): Forgery[] => {
    const json = Buffer.from(part, 'base64').toString()
    if (!/^\{"[^]*\}$/.test(json)) return []
    const text = Buffer.from(json.replace('{', '{"check":1,')).toString('base64url')
    const value = encodeURIComponent(parts.map((one, index) => (index === at ? text : one)).join('.'))
    return [{ what: `the cookie ${cookie.name} with other content`, cookie: { ...cookie, value } }]
  })
}

/** A JWT, or another text with a signature. */
const isSigned = (value: string): boolean => /\.[\w-]{20,}$/.test(value)

/** Changes a letter or digit in the middle of the last part: the last one of a Base64 text may hold no bits. */
function changed (value: string): string {
  const start = value.lastIndexOf('.') + 1
  const middle = start + Math.floor((value.length - start) / 2)
  const at = [...value].findIndex(
    (character, index) =>
      index >= middle && /[A-Za-z0-9]/.test(character) && value[index - 1] !== '%' && value[index - 2] !== '%'
  )
  const place = Math.max(at, 0)
  const other = ['A', 'B'].find((letter) => letter !== value[place])
  return `${value.slice(0, place)}${other}${value.slice(place + 1)}`
}

const CLAIMS = [
  'x-user',
  'x-user-id',
  'x-forwarded-user',
  'x-auth-user',
  'x-remote-user',
  'remote-user',
  'x-user-email',
  'x-forwarded-email',
  'x-authenticated-user',
  'x-auth-request-user',
  'x-auth-request-email',
  'cf-access-authenticated-user-email'
]

const NAMES = ['user', 'user_id', 'userId', 'username', 'email', 'login', 'login_hint', 'uid']

/** Names the user in headers and in the query, without a session. */
async function claimedUser (subject: Subject): Promise<void> {
  const { user } = await subject.session()
  const known = Object.keys(user.headers ?? {}).map((name) => name.toLowerCase())
  const after = await subject.askJson()
  expect(!hasCode(after), 'a code without any session, after another user has logged in', {
    rule: 'authorize.login-needed',
    fix: 'Keep no user in a variable that requests share: `currentUser` reads the session of its request.'
  })
  const claims = await claimsOf(subject)
  for (const claim of claims.slice(0, 3)) {
    const basic = ['authorization', `Basic ${Buffer.from(`${claim}:`).toString('base64')}`] as const
    const headers = [...CLAIMS.map((name) => [name, claim] as const), basic].filter(
      ([name]) => !known.includes(name)
    )
    const byHeader = await subject.askJson({}, headers)
    expect(!hasCode(byHeader), `a code, for the header ${CLAIMS.join(' or ')} with the name of the user`)
    const byQuery = await subject.askJson(Object.fromEntries(NAMES.map((name) => [name, claim])))
    expect(!hasCode(byQuery), 'a code, for a query that names the user')
  }
}

/** What the user is called: what was typed into the login, and the identifier of the record. */
async function claimsOf (subject: Subject): Promise<string[]> {
  const { user } = await subject.session()
  const fields =
    typeof user.login === 'object'
      ? Object.entries(user.login).filter(([name]) => !/pass|secret|pin|code/i.test(name))
      : []
  // Where there is no record, the rules on it say why.
  const record = await subject.recordOf().catch(() => null)
  const ascii = [...fields.map(([, value]) => value), record?.external_id ?? '', record?.email ?? ''].filter(
    (text) => /^[\x21-\x7e]+$/.test(text)
  )
  return [...new Set(ascii)]
}
