import { escapeJson } from '../../flow/escape.ts'
import type { Headers } from '../../flow/wire.ts'
import { RefusalCount } from './caused.ts'
import { CannotRun, needed, numberOf, readFlags } from '../flags.ts'
import { INTEGRATION_FLAGS, INTEGRATION_HELP, integrationOf } from '../integration-flags.ts'
import { loginOf } from './login.ts'
import { CLEAR_LINE, progress } from './progress.ts'
import { json, painter, summary, text } from './report.ts'
import { RULES } from '../rules/all.ts'
import type { Run } from '../rules/run-rules.ts'
import { runRules } from '../rules/run-rules.ts'
import { realTime, Service } from '../rules/service.ts'
import type { Settings } from '../rules/settings.ts'
import type { Process } from '../process.ts'

export const FLAGS = {
  ...INTEGRATION_FLAGS,
  'redirect-uri': { type: 'string' },
  cookie: { type: 'string', multiple: true, default: [] as string[] },
  header: { type: 'string', multiple: true, default: [] as string[] },
  'ineligible-cookie': { type: 'string', multiple: true, default: [] as string[] },
  'second-client-id': { type: 'string' },
  'second-client-secret': { type: 'string' },
  'code-lifetime': { type: 'string' },
  'token-lifetime': { type: 'string' },
  deadline: { type: 'string', default: '600' },
  json: { type: 'boolean', default: false }
} as const

type Values = ReturnType<typeof readFlags<typeof FLAGS>>

export const CHECK_HELP =
  `Usage: partner-sso-portal check --base-url <url> --cookie <name=value> [flags]

Sends a running service valid and invalid requests, as the portal would, and prints which rules
fail, what the service did and how to fix it. Use a user made for tests: the check signs that user
in dozens of times.

On a live system it causes about 870 refusals, 210 of them for wrong credentials, and replays about
6 codes. Alerts fire: "Go live" in RUNBOOK.md says which to silence, and for how long. The report
says from when to when it ran, and how many refusals of each kind it caused.

Flags:
${INTEGRATION_HELP}
  --redirect-uri <url>      the portal callback, as registered at the service. Nothing needs to
                            listen there
  --cookie <cookie>         the session cookie of a user who may enter: name=value, or the whole
                            response of your login, which says more: --cookie "$(curl -si …)".
                            May be repeated
  --header <name: value>    a header that identifies the user. May be repeated
  --ineligible-cookie <cookie>
                            the session cookie of a user who may not enter, in the same forms
  --second-client-id <id>, --second-client-secret <secret>
                            another client of the service: it must not be able to redeem codes of
                            the portal. Better give the secret in PORTAL_SECOND_CLIENT_SECRET
  --code-lifetime <seconds> wait this long, then check that a code has expired. Without it ten
                            minutes, where the deadline allows
  --token-lifetime <seconds>
                            wait this long, then check that an access token has expired
  --deadline <seconds>      the longest that the whole check may take (default 600)
  --json                    print the report as JSON
  --help                    print this help

Exit code: 0 when no rule fails that the portal or an RFC demands; 1 when one fails; 2 when the
check could not run or is not complete: nobody is logged in, no such server, a rate limit, the deadline.

With --json, one object:
  baseUrl, level  what was checked
  summary         numbers: passed, failed, advice (rules that should pass and do not), untested
  caused          the refusals that the check caused at the service: from, to (times), refusals
                  (numbers by OAuth error or status), replayedCodes
  stopped         only with exit code 2, or where the check ended early: why. When nothing could be
                  checked it is the only member.
  rules           in the order in which they were tried: id, section, severity (must, should),
                  sentence, outcome (pass, fail, untested), milliseconds; with fail also got and
                  fix, with untested also reason
Members and rule identifiers stay; new ones may be added.

Examples:
  PORTAL_CLIENT_SECRET=… partner-sso-portal check --base-url http://localhost:3000 \\
    --client-id partner-123 --redirect-uri https://portal.example/oauth/callback \\
    --cookie "$(curl -si -d user=ada localhost:3000/login)"

In a CI job, the report in a file and what fails in the log; the step fails as the check does:
  partner-sso-portal check --json … > check.json || { code=$?
    node -e 'const { stopped = "", rules = [] } = JSON.parse(fs.readFileSync("check.json"))
      for (const { outcome, id, got } of rules) if (outcome === "fail") console.log(id + ": " + got)
      console.log(stopped)'
    exit $code; }
`

/**
 * The command `check`.
 *
 * @returns 0; 1 when a rule fails that must pass; 2 when the check is not complete
 * @throws CannotRun
 */
export async function check (argv: string[], process: Process): Promise<number> {
  const values = readFlags(argv, FLAGS)
  try {
    return await checked(values, process)
  } catch (error) {
    if (error instanceof CannotRun && values.json) {
      process.out(`${escapeJson(JSON.stringify({ stopped: error.message }))}\n`)
    }
    throw error
  }
}

async function checked (values: Values, process: Process): Promise<number> {
  const { out, err, columns, env, stop, wait = realTime } = process
  const seconds = numberOf('deadline', values.deadline, 1, 86_400)
  const limit = new AbortController()
  const end = (sentence: string) => limit.abort(new Error(sentence))
  const timer = setTimeout(
    end, seconds * 1000, 'The check took too long and was ended: --deadline gives it more time.'
  )
  stop.addEventListener('abort', () => end('The check was interrupted.'))
  try {
    const caused = new RefusalCount()
    const onExchange: Settings['onExchange'] = (exchange) => caused.add(exchange)
    const service = serviceOf(values, env, { wait, onExchange, deadline: seconds }, limit.signal)
    const run = await runRules(service, RULES, progress(err, columns))
    if (columns !== undefined) err(CLEAR_LINE)
    if (run.stopped !== undefined && nothingJudged(run)) throw new CannotRun(run.stopped)
    const { base, level } = service.integration
    const paint = painter(columns !== undefined && !env.NO_COLOR)
    const report = { ...run, caused: caused.result() }
    out(values.json ? json(base.href, level, report) : text(report, widthOf(columns), paint))
    if (summary(run).failed > 0) return 1
    return run.stopped === undefined ? 0 : 2
  } finally {
    clearTimeout(timer)
  }
}

/** The width of the report: 100 columns at most, 20 at least. */
const widthOf = (columns = Infinity): number => Math.max(20, Math.min(columns, 100))

/** Whether the check ended without a user or a server: then only the reason is printed. */
function nothingJudged (run: Run): boolean {
  return summary(run).failed === 0 && !run.findings.some(({ rule: { id }, result }) =>
    id === 'authorize.code' && result.outcome === 'pass')
}

function serviceOf (
  values: Values,
  env: Process['env'],
  more: Pick<Settings, 'wait' | 'deadline' | 'onExchange'>,
  signal: AbortSignal
): Service {
  const integration = integrationOf(values, env, needed('redirect-uri', values['redirect-uri']))
  const user = loginOf('cookie', values.cookie)
  const ineligible = { ...loginOf('ineligible-cookie', values['ineligible-cookie']), headers: [] }
  return new Service(integration, {
    user: { cookies: user.cookies, headers: values.header.map(headerOf) },
    ineligible: ineligible.cookies.length === 0 ? null : ineligible,
    second: secondOf(values, env),
    codeLifetime: lifetimeOf(values, 'code-lifetime', 3600),
    tokenLifetime: lifetimeOf(values, 'token-lifetime', 86_400),
    loginRedirects: user.redirects,
    ...more
  }, signal)
}

function secondOf (values: Values, env: Process['env']): Settings['second'] {
  const clientId = values['second-client-id']
  if (clientId === undefined) return null
  const variable = 'PORTAL_SECOND_CLIENT_SECRET'
  const given = values['second-client-secret'] ?? env[variable]
  return { clientId, clientSecret: needed('second-client-secret', given, variable) }
}

function lifetimeOf (
  values: Values, flag: 'code-lifetime' | 'token-lifetime', longest: number
): number | null {
  const value = values[flag]
  return value === undefined ? null : numberOf(flag, value, 0, longest)
}

function headerOf (given: string): Headers[number] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/.exec(given) ?? []
  if (name === undefined || value === undefined) {
    throw new CannotRun('--header must look like "name: value".')
  }
  return [name, value]
}
