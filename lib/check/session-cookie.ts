import type { Arrival } from '../flow/browser.ts'
import { codeOf } from '../flow/browser.ts'
import type { Cookie } from '../flow/cookies.ts'
import { CookieJar } from '../flow/cookies.ts'
import { Browser } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import { headerValues } from '../flow/wire.ts'
import { alike, whyNobody } from './login.ts'
import { advise, Failed, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { lastTry } from './session.ts'
import type { Subject } from './subject.ts'

/** The session cookie, as browsers treat it on the way from the portal. */
export async function expectTravels (subject: Subject): Promise<void> {
  if (subject.options.users.length === 0) return setsTravelling(subject)
  const session = await subject.session()
  const { browser, set, steps } = session
  const arrival = lastTry(session)
  // Something else than the login page is the subject of other rules.
  const isLogin = alike(arrival, (await subject.nobody()).arrival)
  if (steps.length > 0 && isLogin && codeOf(arrival) === null) whyNobody(subject, session)
  const cookies = browser.jar.all().filter(isOwn)
  if (codeOf(arrival) === null || cookies.length === 0) throw new Untested('it needs a session cookie')
  await isNotStrict(subject, session, cookies)
  const kept = steps.length > 0 && set.length > 0 ? set : []
  const names = (unsafe: Cookie[]): string => unsafe.map(({ name }) => name).join(', ')
  const open = kept.filter(({ httpOnly }) => httpOnly !== true)
  advise(
    open.length === 0,
    `no HttpOnly on ${names(open)}`,
    'Set the session cookie with HttpOnly: scripts cannot read it then.'
  )
  const plain = kept.filter(({ secure }) => !secure && subject.integration.base.protocol === 'https:')
  advise(
    plain.length === 0,
    `no Secure on ${names(plain)}`,
    'Set the session cookie with Secure: it is not sent over http then.'
  )
  const { exchange } = arrival
  const replaced = headerValues(exchange.response, 'set-cookie')
    .map((line) => line.split('=')[0] as string)
    .filter((name) => kept.some((cookie) => cookie.name === name))
  advise(
    replaced.length === 0 || steps.length === 0 || isSame(session, replaced),
    `/oauth/authorize replaces the cookie ${replaced.join(', ')}`,
    'See which hook sets it again: two requests at once may lose the session.'
  )
}

/** A session that is renewed keeps its value. */
const isSame = ({ browser, set }: Session, names: string[]): boolean =>
  names.every(
    (name) =>
      browser.jar.all().find((cookie) => cookie.name === name)?.value ===
      set.find((cookie) => cookie.name === name)?.value
  )

const isOwn = ({ name }: Cookie): boolean => !/partner-sso-return$/.test(name)

/** Leaves out the Strict cookies, as a browser does that another site redirects. */
async function isNotStrict (subject: Subject, { user, browser }: Session, cookies: Cookie[]): Promise<void> {
  const strict = cookies.filter(({ sameSite }) => sameSite === 'strict')
  const unknown = cookies.filter(({ sameSite }) => sameSite === undefined)
  if (strict.length === 0) {
    if (unknown.length === 0) return
    throw new Untested('it needs the attributes of the session cookie: a login, or the whole response to one')
  }
  const jar = new CookieJar(browser.jar.all().filter((cookie) => !strict.includes(cookie)))
  const arrival = await subject.authorize(
    new Browser(subject.integration, jar, Object.entries(user.headers ?? {}))
  )
  if (codeOf(arrival) !== null) return
  throw new Failed(
    `SameSite=Strict on ${strict.map(({ name }) => name).join(', ')}; without it ${shownAt(arrival)}`,
    {
      fix:
        'Set the session cookie with SameSite=Lax: browsers do not send a Strict one when the portal redirects, ' +
        'and the user is asked for the password again.'
    }
  )
}

const shownAt = ({ exchange }: Arrival): string => describe(exchange).replace(/\?\S*/, '')

/** Without a user it is not known which of the cookies is the session. */
async function setsTravelling (subject: Subject): Promise<void> {
  const { browser } = await subject.nobody()
  const strict = browser.jar
    .all()
    .filter(isOwn)
    .find(({ sameSite }) => sameSite === 'strict')
  if (strict === undefined) throw new Untested('it needs a user')
  throw new Failed(`the app sets the cookie ${strict.name} with SameSite=Strict; is it the session?`, {
    severity: 'should'
  })
}
