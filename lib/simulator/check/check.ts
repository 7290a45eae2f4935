import { parseGiven } from '../../testing/cookies.ts'
import { fixFor } from '../../testing/failure.ts'
import { type Headers } from '../../testing/wire.ts'
import { examine, type Examination, FirstSignIn } from './examination.ts'
import { CannotRun, type Flag, flagsHelp, readFlags, type Values } from '../flags.ts'
import { BASE_URL, BASIC, CLIENT_ID, CLIENT_SECRET, HELP, integrationOf, LEVEL, PKCE, TIMEOUT } from '../integration-flags.ts'
import { cookiesOf } from './login-command.ts'
import { progress } from './progress.ts'
import { json, painter, summary, table } from './report.ts'
import { RULES } from './rules/all.ts'
import { Bench, type Login, NoAnswer } from './rules/bench.ts'
import { type Surroundings } from '../surroundings.ts'

const REDIRECT_URI: Flag = { name: 'redirect-uri', value: 'url', variable: 'PORTAL_REDIRECT_URI', meaning: 'The portal callback, as registered at the service. Nothing needs to listen there.' }

const FLAGS: Flag[] = [
  BASE_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, LEVEL,
  { name: 'cookie', value: 'name=value', variable: 'PORTAL_COOKIE', many: true, meaning: 'The session cookie of a user who may enter; a whole Set-Cookie line says more.' },
  { name: 'header', value: 'name: value', many: true, meaning: 'A header that makes the user known.' },
  { name: 'login-command', value: 'command', variable: 'PORTAL_LOGIN_COMMAND', meaning: 'Prints the user’s cookies: Set-Cookie lines, as from curl -si, or name=value.' },
  { name: 'ineligible-cookie', value: 'name=value', variable: 'PORTAL_INELIGIBLE_COOKIE', many: true, meaning: 'The session cookie of a user who may not enter.' },
  { name: 'code-lifetime', value: 'seconds', meaning: 'Wait so long and see that a code is dead.' },
  BASIC, PKCE, TIMEOUT,
  { name: 'deadline', value: 'seconds', fallback: '300', meaning: 'The longest that the whole check may take.' },
  { name: 'json', meaning: 'Print the report as JSON.' },
  HELP
]

export const CHECK_HELP = `Usage: partner-sso-portal check --base-url <url> --cookie <name=value> [flags]

Drives a running service through good cases and bad, as the portal would meet them, and says which rules hold, which
do not, what came instead and how to mend it. Use a user made for tests: the check signs that user in many times.

Flags:
${flagsHelp(FLAGS)}

Exit code: 0 when every rule that must hold does, 1 when one does not, 2 when the check could not run.

Example:
  PORTAL_CLIENT_SECRET=… partner-sso-portal check --base-url http://localhost:3000 --client-id partner-123 \\
    --redirect-uri https://portal.example/oauth/callback --login-command 'curl -si -d user=ada localhost:3000/login'
`

/**
 * The command `check`.
 *
 * @returns 0, or 1 when a rule that must hold does not
 * @throws CannotRun
 */
export async function check (argv: string[], surroundings: Surroundings): Promise<number> {
  const values = readFlags(FLAGS, argv, surroundings.env)
  try {
    return await checked(values, surroundings)
  } catch (error) {
    if (error instanceof CannotRun && values.on('json')) surroundings.out(`${JSON.stringify({ stopped: error.message })}\n`)
    throw error
  }
}

async function checked (values: Values, { out, err, columns, env }: Surroundings): Promise<number> {
  const deadline = performance.now() + values.number('deadline', 1, 86_400) * 1000
  const bench = await benchOf(values)
  await reach(bench)
  const paint = painter(columns !== undefined && !env.NO_COLOR)
  const first = new FirstSignIn()
  const watch = progress(err, columns, paint)
  const anonymous = unknownUser(bench)
  const started = { ...watch, found: (...found: Parameters<typeof watch.found>) => { watch.found(...found); refuseWithoutLogin(first, anonymous) } }
  const examination = await examine(bench, [first, ...RULES], started, deadline)
  const { baseUrl, level } = { baseUrl: bench.portal.base.href, level: bench.portal.level }
  out(values.on('json') ? json(baseUrl, level, examination) : table(examination, Math.min(columns ?? 100, 120), paint))
  return exitCode(examination)
}

function exitCode (examination: Examination): number {
  if (examination.stopped !== undefined) return 2
  return summary(examination).failed > 0 ? 1 : 0
}

async function benchOf (values: Values): Promise<Bench> {
  const portal = integrationOf(values, values.needed('redirect-uri', REDIRECT_URI))
  const ineligible = values.all('ineligible-cookie').flatMap(parseGiven)
  const codeLifetime = values.on('code-lifetime') ? values.number('code-lifetime', 0, 3600) : null
  return new Bench(portal, { user: await loginOf(values), ineligible: ineligible.length === 0 ? null : { cookies: ineligible, headers: [] }, codeLifetime })
}

async function loginOf (values: Values): Promise<Login> {
  const command = values.text('login-command')
  const printed = command === undefined ? [] : await cookiesOf(command)
  return { cookies: [...values.all('cookie').flatMap((text) => parseGiven(text)), ...printed], headers: values.all('header').map(headerOf) }
}

function headerOf (text: string): Headers[number] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw new CannotRun('--header must look like "name: value".')
  return [name, value]
}

/** @throws CannotRun when nothing answers, or something that is no HTTP server */
async function reach ({ portal }: Bench): Promise<void> {
  try {
    await portal.send({ method: 'GET', url: portal.authorizeUrl, headers: [['Accept', 'text/html']] })
  } catch (error) {
    if (error instanceof NoAnswer) throw new CannotRun(`${error.message} ${fixFor(error.trouble.code)}`)
    throw new CannotRun(`The check cannot run: ${(error as Error).message}.`)
  }
}

const unknownUser = ({ settings: { user } }: Bench): boolean => user.cookies.length === 0 && user.headers.length === 0

/** Without a user most rules cannot be tried: better to say so than to print a table of what was not tested. */
function refuseWithoutLogin ({ failure }: FirstSignIn, anonymous: boolean): void {
  if (!anonymous || failure?.error !== 'login_required') return
  throw new CannotRun(`Nobody is logged in (${failure.got}): make a user known with --cookie, --header or --login-command.`)
}
