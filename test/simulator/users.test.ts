// One flag is one person: who takes part in a check, by flags and by the environment.
import t from 'tap'
import { readFlags } from '../../lib/simulator/flags.ts'
import { USER_FLAGS, usersOf } from '../../lib/simulator/check/users.ts'

const given = (argv: string[], env: Record<string, string> = {}) => usersOf(readFlags(argv, USER_FLAGS), env)

/** Flags, environment, and the users who may enter; after them the one who may not. */
const ROWS: Array<[argv: string[], env: Record<string, string>, users: object[], ineligible?: object]> = [
  [[], {}, []],
  [['--login', 'user=a%26b&password=c+d%2B'], {}, [{ login: { user: 'a&b', password: 'c d+' } }]],
  [['--login', 'user=ada&role=x&role=y'], {}, [{ login: { user: 'ada', role: ['x', 'y'] } }]],
  [['--login', 'user=ada', '--login', 'user=bob'], {}, [{ login: { user: 'ada' } }, { login: { user: 'bob' } }]],
  [['--login', 'user=ada&password=x', '--login', 'password=y&user=bob'], {},
    [{ login: { user: 'ada', password: 'x' } }, { login: { password: 'y', user: 'bob' } }]],
  [['--cookie', 'a=1', '--cookie', 'a=2'], {}, [{ cookies: 'a=1' }, { cookies: 'a=2' }]],
  [['--cookie', 'a=1', '--login', 'user=ada'], {}, [{ login: { user: 'ada' } }, { cookies: 'a=1' }]],
  [['--ineligible-login', 'user=eve'], {}, [], { login: { user: 'eve' } }],
  [['--ineligible-cookie', 'a=3'], {}, [], { cookies: 'a=3' }],
  [[], { PORTAL_LOGIN: 'user=ada&password=p' }, [{ login: { user: 'ada', password: 'p' } }]],
  [[], { PORTAL_COOKIE: 'a=1', PORTAL_SECOND_LOGIN: 'user=b' }, [{ cookies: 'a=1' }, { login: { user: 'b' } }]],
  [[], { PORTAL_LOGIN: 'user=a', PORTAL_SECOND_COOKIE: 'b=1' }, [{ login: { user: 'a' } }, { cookies: 'b=1' }]],
  [[], { PORTAL_INELIGIBLE_LOGIN: 'user=eve' }, [], { login: { user: 'eve' } }],
  [[], { PORTAL_INELIGIBLE_COOKIE: 'a=3' }, [], { cookies: 'a=3' }],
  [[], { PORTAL_LOGIN: '', PORTAL_COOKIE: 'a=1', PORTAL_SECOND_LOGIN: '' }, [{ cookies: 'a=1' }]],
  [['--cookie', 'a=9'], { PORTAL_LOGIN: 'user=a', PORTAL_SECOND_COOKIE: 'b=1' },
    [{ cookies: 'a=9' }, { cookies: 'b=1' }]],
  [['--ineligible-cookie', 'a=9'], { PORTAL_INELIGIBLE_LOGIN: 'user=eve' }, [], { cookies: 'a=9' }]
]

t.test('a flag, or a variable, is one user', async (t) => {
  for (const [argv, env, users, ineligible] of ROWS) {
    const expected = { users, ineligible: ineligible ?? null, headers: {} }
    t.strictSame(given(argv, env), expected, JSON.stringify([argv, env]))
  }
})

t.test('a header is for everybody; alone, it is the user', async (t) => {
  const headers = { 'x-tenant': 'acme', 'x-user': 'ada' }
  const argv = ['--header', 'x-tenant: acme', '--header', 'x-user: ada']
  t.strictSame(given(argv), { users: [{ headers }], ineligible: null, headers: {} })
  t.strictSame(given([...argv, '--cookie', 'a=1', '--ineligible-cookie', 'a=2']), {
    users: [{ cookies: 'a=1' }],
    ineligible: { cookies: 'a=2' },
    headers
  })
})
