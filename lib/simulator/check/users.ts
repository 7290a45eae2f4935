import type { SubjectOptions } from '../../check/subject.ts'
import { parseGiven } from '../../flow/cookies.ts'
import type { Fields, User } from '../../flow/user.ts'
import { CannotRun } from '../flags.ts'
import type { readFlags } from '../flags.ts'
import type { Process } from '../process.ts'

const LIST = { type: 'string', multiple: true, default: [] as string[] } as const

/** The flags that say who takes part. */
export const USER_FLAGS = {
  login: LIST,
  'ineligible-login': LIST,
  cookie: LIST,
  header: LIST,
  'ineligible-cookie': LIST
} as const

export const USER_HELP = `\
  --login <name=value>      a field of the form on the login page, of a user who may enter. Repeat it for the other
                            fields; a field that was given begins a second user, tried at the same time.
                            Better in PORTAL_LOGIN, form-encoded: user=ada&password=…
  --ineligible-login <name=value>
                            the same of a user who may not enter (or PORTAL_INELIGIBLE_LOGIN)
  --cookie <cookie>         instead, for other logins: the session cookie, name=value or the whole response to a login:
                            "$(curl -si …)" (or PORTAL_COOKIE). The way back from the login is not tested then
  --header <name: value>    a header that identifies the user. May be repeated
  --ineligible-cookie <cookie>
                            the session cookie of a user who may not enter (or PORTAL_INELIGIBLE_COOKIE)`

type Values = ReturnType<typeof readFlags<typeof USER_FLAGS>>

/**
 * The users that flags and environment describe.
 *
 * @throws CannotRun for a value that cannot be read
 */
export function usersOf (values: Values, env: Process['env']): Pick<SubjectOptions, 'users' | 'ineligible'> {
  const headers = Object.fromEntries(values.header.map(headerOf))
  const hasHeaders = values.header.length > 0
  const cookies = cookieOf('cookie', values.cookie, env.PORTAL_COOKIE)
  const logins = loginsOf('login', values.login, env.PORTAL_LOGIN)
  const common: User = { ...(cookies === '' ? {} : { cookies }), ...(hasHeaders ? { headers } : {}) }
  const users = logins.length > 0 ? logins.map((login) => ({ ...common, login })) : [common]
  const isKnown = logins.length > 0 || cookies !== '' || hasHeaders
  const others = {
    cookies: cookieOf('ineligible-cookie', values['ineligible-cookie'], env.PORTAL_INELIGIBLE_COOKIE),
    login: loginsOf('ineligible-login', values['ineligible-login'], env.PORTAL_INELIGIBLE_LOGIN)[0]
  }
  const hasOther = others.cookies !== '' || others.login !== undefined
  // A header beside a login or a cookie is for everybody; alone it is the user.
  const shared = logins.length > 0 || cookies !== '' ? headers : {}
  const ineligible: User = {
    cookies: others.cookies,
    headers: shared,
    ...(others.login === undefined ? {} : { login: others.login })
  }
  return { users: isKnown ? users : [], ineligible: hasOther ? ineligible : null }
}

/** The fields of each user: a name that was given before begins the next one. */
function loginsOf (flag: string, given: string[], form = ''): Fields[] {
  const pairs =
    given.length > 0
      ? given.flatMap((text) => text.split(/&(?=[^&=]+=)/)).map((text) => pairOf(flag, text))
      : [...new URLSearchParams(form)]
  const logins: Fields[] = []
  for (const [name, value] of pairs) {
    const last = logins.at(-1)
    if (last === undefined || name in last) logins.push({ [name]: value })
    else last[name] = value
  }
  return logins
}

function pairOf (flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) { throw new CannotRun(`--${flag} must look like name=value: the name of a field of the login form.`) }
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The cookies as text. Checks the response to a login, as `curl -si` prints it. */
function cookieOf (flag: string, given: string[], variable?: string): string {
  const texts = given.length > 0 || variable === undefined ? given : [variable]
  for (const text of texts) expectCookies(flag, text)
  const isResponse = texts.some((text) => /^set-cookie:/im.test(text))
  return texts.join(isResponse ? '\n' : '; ')
}

function expectCookies (flag: string, text: string): void {
  const statuses = [...text.matchAll(/^HTTP\/\S+ .*$/gm)].map(([line]) => line.trim())
  const last = statuses.at(-1) ?? ''
  if (text.trim() === '') throw new CannotRun(`--${flag} is empty: the login printed nothing.`)
  if (/^\S+ [45]/.test(last)) throw new CannotRun(`The login failed: the response in --${flag} is ${last}.`)
  if (parseGiven(text).length === 0 || (last !== '' && !/^set-cookie:/im.test(text))) {
    throw new CannotRun(`There is no cookie in --${flag}.`)
  }
}

function headerOf (given: string): [name: string, value: string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/.exec(given) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new CannotRun('--header must look like "name: value".')
}
