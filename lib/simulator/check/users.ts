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
  const headers = values.header.map((text) =>
    pairOf('header', text, /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/, '"name: value"')
  )
  const common: User[] = headers.length > 0 ? [{ headers: Object.fromEntries(headers) }] : []
  const users = identified('', values, env)
  const [ineligible = null] = identified('ineligible-', values, env)
  // A header alone is the user; beside a login or a cookie it is for everybody.
  if (users.length === 0) return { users: common, ineligible }
  return {
    users: users.map((user) => ({ ...user, ...common[0] })),
    ineligible: ineligible && { ...ineligible, ...common[0] }
  }
}

/** The users who have a login or a cookie, by flags or by environment variables. */
function identified (kind: '' | 'ineligible-', values: Values, env: Process['env']): User[] {
  const variable = `PORTAL_${kind.toUpperCase().replace('-', '_')}`
  const logins = loginsOf(`${kind}login`, values[`${kind}login`], env[`${variable}LOGIN`])
  const cookies = cookiesOf(`${kind}cookie`, values[`${kind}cookie`], env[`${variable}COOKIE`])
  const common: User = cookies === '' ? {} : { cookies }
  const users = logins.map((login) => ({ ...common, login }))
  return users.length === 0 && cookies !== '' ? [common] : users
}

/** The fields of each user: a name that was given before begins the next one. */
function loginsOf (flag: string, given: string[], form = ''): Fields[] {
  const fields = given.map((text) =>
    pairOf(flag, text, /^([^=]+)=(.*)$/s, 'name=value: the name of a field of the login form')
  )
  const logins: Fields[] = []
  for (const [name, value] of given.length > 0 ? fields : new URLSearchParams(form)) {
    const last = logins.at(-1)
    if (last === undefined || name in last) logins.push({ [name]: value })
    else last[name] = value
  }
  return logins
}

/** A name and its value. The error shows no value: it may be a secret. */
function pairOf (flag: string, text: string, pattern: RegExp, form: string): [name: string, value: string] {
  const [, name, value] = pattern.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new CannotRun(`--${flag} must look like ${form}.`)
}

/** The cookies as text. Checks the response to a login, as `curl -si` prints it. */
function cookiesOf (flag: string, given: string[], variable?: string): string {
  const texts = given.length > 0 || variable === undefined ? given : [variable]
  for (const text of texts) {
    const status = text.match(/^HTTP\/\S+ .*$/gm)?.at(-1)?.trim() ?? ''
    const cookies = status === '' || /^set-cookie:/im.test(text) ? parseGiven(text) : []
    if (text.trim() === '') throw new CannotRun(`--${flag} is empty: the login printed nothing.`)
    if (/^\S+ [45]/.test(status)) throw new CannotRun(`The login failed: the response in --${flag} is ${status}.`)
    if (cookies.length === 0) throw new CannotRun(`There is no cookie in --${flag}.`)
  }
  return texts.join(';\n')
}
