import { parseGiven } from '../../flow/cookies.ts'
import type { Fields, User } from '../../flow/user.ts'
import { CannotRun, variableOf } from '../flags.ts'
import type { readFlags } from '../flags.ts'

const LIST = { type: 'string', multiple: true, default: [] as string[] } as const

/** The flags that say who takes part. */
export const USER_FLAGS = {
  login: LIST,
  cookie: LIST,
  'ineligible-login': LIST,
  'ineligible-cookie': LIST,
  header: LIST
} as const

export const USER_HELP = `\
  --login <fields>          a user who may enter: all fields to fill in on the login page, form-encoded,
                            'user=ada&password=…' (or PORTAL_LOGIN: every user of the machine can see the flags of a
                            process). In a value write & as %26, + as %2B, % as %25. The first form of the page that is
                            sent by POST and has such a field is filled in; its hidden fields are sent as they are
  --cookie <cookie>         a user who may enter, for other logins: the session cookie, name=value or the whole response
                            to a login: "$(curl -si …)" (or PORTAL_COOKIE). The way back from the login is not tested
                            then
  A second --login or --cookie is a second user, who signs in at the same time (or PORTAL_SECOND_LOGIN,
  PORTAL_SECOND_COOKIE).
  --ineligible-login <fields>, --ineligible-cookie <cookie>
                            a user who may not enter (or PORTAL_INELIGIBLE_LOGIN, PORTAL_INELIGIBLE_COOKIE)
  --header <name: value>    a header of each request of a browser, such as that of a gateway. Without a login and a
                            cookie it is what the user is known by. May be repeated`

type Values = ReturnType<typeof readFlags<typeof USER_FLAGS>>

/** One user, and where they were given: a flag, or a variable of the environment. */
interface Given {
  from: string
  user: User
}

/** Who takes part in a check. */
interface Users {
  users: User[]
  ineligible: User | null
  /** Sent by each browser. */
  headers: Record<string, string>
}

/** The most users who may enter. */
const MOST_USERS = 2

/**
 * The users that flags and environment describe: one for each `--login` and `--cookie`. A flag takes the place of the
 * variables for the same user.
 *
 * @throws CannotRun for a value that cannot be read, and for more users than can take part
 */
export function usersOf (values: Values, env: NodeJS.ProcessEnv): Users {
  const headers = headersOf(values.header)
  const flags = [...givenBy('login', values.login), ...givenBy('cookie', values.cookie)]
  expectAtMost(MOST_USERS, flags, 'A second user is the most')
  expectOneFormForBoth(flags)
  const [first = fromEnvironment('', env), second = fromEnvironment('second-', env)] = flags
  const barred = [
    ...givenBy('ineligible-login', values['ineligible-login']),
    ...givenBy('ineligible-cookie', values['ineligible-cookie'])
  ]
  expectAtMost(1, barred, 'There is one user who may not enter')
  const [ineligible = fromEnvironment('ineligible-', env)] = barred
  if (first === null && second !== null) throw new CannotRun(`${second.from} is a second user: give the first as well.`)
  const users = [first, second].filter((given) => given !== null).map(({ user }) => user)
  const others = { ineligible: ineligible && ineligible.user }
  // A header alone is what the user is known by.
  if (users.length === 0 && values.header.length > 0) return { users: [{ headers }], headers: {}, ...others }
  return { users, headers, ...others }
}

/** A user for each value of a flag. */
const givenBy = (flag: 'login' | 'cookie' | 'ineligible-login' | 'ineligible-cookie', texts: string[]): Given[] =>
  texts.map((text) => ({ from: `--${flag}`, user: userOf(`--${flag}`, text) }))

/** The user of two variables, of which one is given; null without both. An empty variable is none. */
function fromEnvironment (who: '' | 'second-' | 'ineligible-', env: NodeJS.ProcessEnv): Given | null {
  const variables = [variableOf(`${who}login`), variableOf(`${who}cookie`)]
  const [from, other] = variables.filter((variable) => env[variable])
  if (other !== undefined) throw new CannotRun(`${from} and ${other} are both set, and are one user: give one of them.`)
  return from === undefined ? null : { from, user: userOf(from, String(env[from])) }
}

const userOf = (from: string, text: string): User =>
  from.toLowerCase().endsWith('login') ? { login: loginOf(from, text) } : { cookies: cookieOf(from, text) }

/** The fields of a login, form-encoded. The errors show no value: it may be a secret. */
function loginOf (from: string, text: string): Fields {
  expectNotEmpty(from, text)
  const fields = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) fields.set(name, [...fields.get(name) ?? [], value])
  if (!text.split('&').every((pair) => /^[^=]+=/.test(pair))) {
    throw new CannotRun(`${from} must look like 'user=ada&password=…': all fields of one user, form-encoded.`)
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length > 1 ? values : String(values[0])]))
}

function cookieOf (from: string, text: string): string {
  expectNotEmpty(from, text)
  if (text.startsWith('HTTP/') && !/^set-cookie:/im.test(text)) {
    throw new CannotRun(`There is no cookie in the response that ${from} is: see whether the login succeeds.`)
  }
  if (parseGiven(text).length === 0 || !text.includes('=')) {
    throw new CannotRun(`${from} has no cookie that is still good: give name=value, or the whole response to a login.`)
  }
  return text
}

function headersOf (texts: string[]): Record<string, string> {
  return Object.fromEntries(texts.map((text) => {
    const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/.exec(text) ?? []
    if (name === undefined) throw new CannotRun('--header must look like "name: value".')
    return [name, value]
  }))
}

function expectNotEmpty (from: string, text: string): void {
  if (text.trim() !== '') return
  throw new CannotRun(`${from} is empty: see whether the command or the variable that it is taken from has a value.`)
}

function expectAtMost (most: number, given: Given[], sentence: string): void {
  if (given.length <= most) return
  throw new CannotRun(`${sentence}: ${given.map(({ from }) => from).join(', ')} are ${given.length} users.`)
}

/** Two flags for two fields are most likely meant as one user. */
function expectOneFormForBoth (given: Given[]): void {
  const [one, other] = given.map(({ user }) => user.login && Object.keys(user.login).sort().join(' and '))
  if (one === undefined || other === undefined || one === other) return
  throw new CannotRun(
    `Each --login is one user, and these two have different fields, ${one} and ${other}: ` +
    'write all fields of one user into one flag, \'user=ada&password=…\'.'
  )
}
