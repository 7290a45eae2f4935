import { CookieJar, parseGiven } from '../../testing/cookies.ts'
import type { Cookie } from '../../testing/cookies.ts'
import { printable } from '../../testing/printable.ts'
import { CannotRun } from '../flags.ts'

/** What the command line says of a user's login. */
export interface Login {
  cookies: Cookie[]
  /** Whether a given response shows that the login responds with a redirect. */
  redirects: boolean
}

/**
 * Reads cookies as they are given on the command line: `name=value; name=value`, or the response to a login as
 * `curl -si` prints it, also when it followed redirects.
 *
 * @throws CannotRun when a response has no cookie
 */
export function loginOf (flag: string, given: string[]): Login {
  const logins = given.map((text) => responseLogin(flag, text) ?? { cookies: parseGiven(text), redirects: false })
  return { cookies: logins.flatMap(({ cookies }) => cookies), redirects: logins.some(({ redirects }) => redirects) }
}

/** Null where the text is no response. */
function responseLogin (flag: string, text: string): Login | null {
  const heads = text.split(/\r?\n\r?\n/).map((part) => part.trim()).filter((part) => /^HTTP\/\d/.test(part))
  const lines = (heads.length > 0 ? heads.join('\n') : text).split(/\r?\n/)
  const set = lines.flatMap((line) => /^set-cookie:\s*(.*)$/i.exec(line)?.[1] ?? [])
  if (heads.length === 0 && set.length === 0) return null
  const jar = new CookieJar()
  for (const line of set) jar.take(line, '/')
  const statuses = lines.filter((line) => /^HTTP\/\d/.test(line))
  if (jar.all().length === 0) {
    throw new CannotRun(`The response in --${flag} sets no cookie (${printable(String(statuses.at(-1)))}): ` +
      'does the command log the user in?')
  }
  return { cookies: jar.all(), redirects: statuses.some((line) => /^\S+ 30[1-8]\b/.test(line)) }
}
