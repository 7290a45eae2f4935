import { parseGiven } from '../../flow/cookies.ts'
import type { Fields, User } from '../../flow/user.ts'
import { CannotRun, variableOf } from '../flags.ts'
import type { readFlags } from '../flags.ts'

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
export function usersOf (values: Values, env: NodeJS.ProcessEnv) {
  const pairs = pairsOf(values, 'header', /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/, '"name: value"')
  const headers = Object.fromEntries(pairs)
  const identified = (login: keyof Values, cookie: keyof Values): User[] => {
    const fields = pairsOf(values, login, /^([^=]+)=(.*)$/s, 'name=value: the name of a field of the login form')
    const logins = loginsOf(new URLSearchParams(fields.length > 0 ? fields : env[variableOf(login)]))
    const cookies = values[cookie].join(';\n') || (env[variableOf(cookie)] ?? '')
    const [first] = parseGiven(cookies)
    if (first?.name.startsWith('HTTP/')) {
      throw new CannotRun(`There is no cookie in --${cookie}: see whether the login succeeds.`)
    }
    if (logins.length === 0 && first) return [{ headers, cookies }]
    return logins.map((login) => ({ headers, cookies, login }))
  }
  const users = identified('login', 'cookie')
  // A header alone is the user; beside a login or a cookie it is for everybody.
  if (users.length === 0 && pairs.length > 0) users.push({ headers })
  const [ineligible = null] = identified('ineligible-login', 'ineligible-cookie')
  return { users, ineligible }
}

/** The fields of each user: a name that was given before begins the next one. */
function loginsOf (fields: URLSearchParams): Fields[] {
  const logins: Fields[] = []
  for (const [name, value] of fields) {
    const last = logins.at(-1)
    if (last === undefined || name in last) logins.push({ [name]: value })
    else last[name] = value
  }
  return logins
}

/** The names and values of a flag. The error shows no value: it may be a secret. */
function pairsOf (values: Values, flag: keyof Values, pattern: RegExp, form: string) {
  return values[flag].map((text): [name: string, value: string] => {
    const [, name, value = ''] = pattern.exec(text) ?? []
    if (name !== undefined) return [name, value]
    throw new CannotRun(`--${flag} must look like ${form}.`)
  })
}
