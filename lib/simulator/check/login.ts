import type { Cookie } from '../../flow/cookies.ts'
import { parseGiven } from '../../flow/cookies.ts'
import { CannotRun } from '../flags.ts'

/** A user's login, as the command line gives it. */
export interface Login {
  cookies: Cookie[]
  /** Whether the response that was given shows a redirect after the login. */
  redirects: boolean
}

/**
 * Reads cookies as they are given on the command line: `name=value; name=value`, or the response to
 * a login as `curl -si` prints it, also when it followed redirects.
 *
 * @throws CannotRun when the text is empty, or a response is an error or has no cookie
 */
export function loginOf (flag: string, given: string[]): Login {
  const logins = given.map((text) =>
    responseLogin(flag, text) ?? { cookies: parseGiven(text), redirects: false })
  return {
    cookies: logins.flatMap(({ cookies }) => cookies),
    redirects: logins.some(({ redirects }) => redirects)
  }
}

/** Null where the text is not a response. */
function responseLogin (flag: string, text: string): Login | null {
  if (text.trim() === '') {
    throw new CannotRun(
      `--${flag} is empty: the login printed nothing. Does its address respond? Try curl without ` +
      '-s.'
    )
  }
  const heads = text.split(/\r?\n\r?\n/).filter((part) => /^HTTP\/\d/.test(part))
  if (heads.length === 0) return null
  const statuses = heads.map((head) => String(head.split(/\r?\n/)[0]))
  const last = String(statuses.at(-1)).trim()
  if (/^\S+ [45]/.test(last)) {
    throw new CannotRun(`The login failed: the response in --${flag} is ${last}.`)
  }
  const head = heads.join('\n')
  const cookies = /^set-cookie:/im.test(head) ? parseGiven(head) : []
  if (cookies.length === 0) {
    throw new CannotRun(`The response in --${flag} sets no cookie (${last}).`)
  }
  return { cookies, redirects: statuses.some((line) => /^\S+ 30[1-8]\b/.test(line)) }
}
