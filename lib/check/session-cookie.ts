import type { Cookie } from '../flow/cookies.ts'
import { advise, expect, Untested } from './rule.ts'
import { cookiesIn, isIssued } from './session.ts'
import type { Subject } from './subject.ts'

/** The session cookie, as browsers treat it on the way from the portal. */
export async function expectTravels (subject: Subject): Promise<void> {
  const [user] = subject.options.users
  const { browser } = user === undefined ? await subject.nobody() : await subject.session()
  const cookies = cookiesIn(browser)
  const strict = cookies.find(isStrict)
  if (strict !== undefined) {
    // Another site redirects: browsers leave them out.
    const others = cookies
      .filter((cookie) => !isStrict(cookie))
      .map(({ name, value }) => [name, value])
    const isKnown = await isIssued(subject, { ...user, cookies: Object.fromEntries(others) })
    expect(
      isKnown,
      `SameSite=Strict on ${strict.name}: browsers do not send it when the portal redirects`,
      { severity: user === undefined ? 'should' : 'must' }
    )
  }
  const { set } = await subject.session()
  if (cookies.length === 0 || cookies.some(({ sameSite }) => sameSite === undefined)) {
    throw new Untested('it needs the attributes of the session cookie: a login, or the whole response to one')
  }
  const isHttp = subject.integration.base.protocol === 'http:'
  for (const { name, value, httpOnly, secure } of set) {
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

const isStrict = ({ sameSite }: Cookie): boolean => sameSite === 'strict'
