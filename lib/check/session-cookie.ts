import { advise, expect, Untested } from './rule.ts'
import type { Session } from './session.ts'
import { cookiesIn, isIssued } from './session.ts'
import type { Subject } from './subject.ts'

/** The session cookie, as browsers treat it on the way from the portal. */
export async function expectTravels (subject: Subject): Promise<void> {
  if (subject.options.users.length === 0) return ofNobody(subject)
  const session = await subject.session()
  await isNotStrict(subject, session)
  const isHttp = subject.integration.base.protocol === 'http:'
  const cookies = cookiesIn(session.browser)
  for (const { name, value, httpOnly, secure } of session.set) {
    const isReplaced = cookies.some((now) => now.name === name && now.value !== value)
    advise(httpOnly === true, `no HttpOnly on ${name}: scripts can read it`)
    advise(secure || isHttp, `no Secure on ${name}: it is sent over http, too`)
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
  for (const { name, sameSite } of cookiesIn(browser)) {
    advise(sameSite !== 'strict', `SameSite=Strict on ${name}: is it the session?`)
  }
  throw new Untested('it needs a user')
}

/** Leaves out each Strict cookie, as a browser does that another site redirects. */
async function isNotStrict (subject: Subject, { user, browser }: Session): Promise<void> {
  const cookies = cookiesIn(browser)
  for (const cookie of cookies.filter(({ sameSite }) => sameSite === 'strict')) {
    const others = cookies.filter((other) => other !== cookie)
    const isKnown = await isIssued(subject, others, user.headers)
    expect(isKnown, `SameSite=Strict on ${cookie.name}: browsers do not send it when the portal redirects`)
  }
  if (cookies.length === 0 || cookies.some(({ sameSite }) => sameSite === undefined)) {
    throw new Untested('it needs the attributes of the session cookie: a login, or the whole response to one')
  }
}
