import { codeOf } from '../flow/browser.ts'
import { advise, expect, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { cookiesIn, isIssued } from './session.ts'
import type { Subject } from './subject.ts'

/** The session cookie, as browsers treat it on the way from the portal. */
export async function expectTravels (subject: Subject): Promise<void> {
  if (subject.options.users.length === 0) return ofNobody(subject)
  const session = await subject.session()
  // The rule on the code says why there is none.
  if (codeOf(session.arrival) === null) throw new Untested('it needs a user who is logged in')
  await isNotStrict(subject, session)
  for (const { name, value, httpOnly, secure } of session.set) {
    advise(httpOnly === true, `no HttpOnly on ${name}`, 'Set it with HttpOnly: scripts cannot read it then.')
    advise(
      secure || subject.integration.base.protocol === 'http:',
      `no Secure on ${name}`,
      'Set it with Secure: it is not sent over http then.'
    )
    const isReplaced = cookiesIn(session.browser).some((other) => other.name === name && other.value !== value)
    advise(
      !isReplaced,
      `/oauth/authorize replaces the cookie ${name}`,
      'See which hook sets it again: two requests at once may lose the session.'
    )
  }
}

/** Without a user it is not known which of the cookies is the session. */
async function ofNobody (subject: Subject): Promise<void> {
  const { browser } = await subject.nobody()
  const strict = cookiesIn(browser).find(({ sameSite }) => sameSite === 'strict')
  if (strict === undefined) throw new Untested('it needs a user')
  advise(false, `the app sets the cookie ${strict.name} with SameSite=Strict; is it the session?`)
}

/** Leaves out the Strict cookies, as a browser does that another site redirects. */
async function isNotStrict (subject: Subject, { user, browser }: Session): Promise<void> {
  const cookies = cookiesIn(browser)
  const others = cookies.filter(({ sameSite }) => sameSite !== 'strict')
  if (others.length < cookies.length) {
    const names = cookies.filter((cookie) => !others.includes(cookie)).map(({ name }) => name)
    return expect(await isIssued(subject, others, user.headers), `SameSite=Strict on ${names.join(', ')}`, {
      fix:
        'Set the session cookie with SameSite=Lax: browsers do not send a Strict one when the portal redirects, ' +
        'and the user is asked for the password again.'
    })
  }
  if (cookies.length === 0 || cookies.some(({ sameSite }) => sameSite === undefined)) {
    throw new Untested('it needs the attributes of the session cookie: a login, or the whole response to one')
  }
}
