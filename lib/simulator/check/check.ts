import { RULES } from '../../check/rules.ts'
import { run } from '../../check/run.ts'
import { Subject } from '../../check/subject.ts'
import { escapeLines } from '../../flow/escape.ts'
import { CannotRun, needed, readFlags } from '../flags.ts'
import { INTEGRATION_FLAGS, INTEGRATION_HELP, integrationOf } from '../integration-flags.ts'
import type { Process } from '../process.ts'
import { summary, text } from './report.ts'
import { USER_FLAGS, USER_HELP, usersOf } from './users.ts'

export const FLAGS = {
  ...INTEGRATION_FLAGS,
  ...USER_FLAGS,
  json: { type: 'boolean', default: false }
} as const

export const CHECK_HELP = `Usage: fastify-partner-sso check --base-url <url> --login <fields> [flags]

Drives a running app as the portal does, and says what around the plugin is wrong, first the cause: hooks, the login and
its cookie, policies, the records of users, the store, proxies in front. It makes about a hundred requests, among them
a few with unknown codes and tokens, and one replay of a code. Use users who were made for tests.

Flags:
${INTEGRATION_HELP}
  --redirect-uri <url>      the portal callback, as registered at the app. Nothing needs to listen there
${USER_HELP}
  --json                    print the report as JSON
  --help                    print this help

Exit code: 0 when every rule that could be tried was tried and none fails; 1 when one fails; 2 when the run ended before
it had judged a sign-in: no such server, nobody logged in, a limit in between. Then one sentence says what to do.

With --json, one object:
  summary  numbers: passed, failed, advice (it breaks nothing), untested
  rules    id, group, severity (must, should), sentence, outcome (pass, fail, advice, untested); got and fix where it
           fails or is advice; reason: the plugin's word for a refusal, or what an untested rule needs
  stopped  only where the check ended early: why, and what to do

Example:
  export PORTAL_CLIENT_SECRET=… PORTAL_LOGIN='user=ada&password=…'
  npx fastify-partner-sso check --base-url http://localhost:3000 --client-id partner-123 \\
    --redirect-uri https://portal.example/oauth/callback
`

/**
 * The command `check`.
 *
 * @returns the exit code: 0 where no rule fails and all that could be tried were tried; 1 where one fails
 * @throws CannotRun for flags that cannot be read, and where the run ended before it had judged a sign-in
 */
export async function check (argv: string[], process: Process): Promise<number> {
  const { env, out, stop, wait } = process
  const values = readFlags(argv, FLAGS)
  const integration = integrationOf(values, env, needed('redirect-uri', values['redirect-uri']))
  const options = {
    ...usersOf(values, env),
    ...wait && { wait }
  }
  const progress = new Progress(process)
  const report = await run(new Subject(integration, options, stop), (rule) => progress.show(rule))
    .catch((error: unknown) => {
      throw stop.aborted ? new CannotRun('The check was interrupted.') : error
    })
    .finally(() => progress.clear())
  const { rules, stopped } = report
  const counts = summary(report)
  if (values.json) out(`${escapeLines(JSON.stringify({ summary: counts, rules, stopped }, null, 2))}\n`)
  if (stopped !== undefined && counts.failed === 0) throw new CannotRun(stopped)
  if (!values.json) out(text(report))
  return counts.failed > 0 ? 1 : 0
}

/** The line at a terminal that says which rule is being tried. */
class Progress {
  readonly #process: Process
  #count = 0

  constructor (process: Process) {
    this.#process = process
  }

  /** Shows the rule in place of the one before. */
  show ({ id }: { id: string }): void {
    this.#count++
    this.#write(`Trying rule ${this.#count} of ${RULES.length}: ${id}`)
  }

  /** Leaves the terminal as it was. */
  clear (): void {
    this.#write('')
  }

  #write (text: string): void {
    // Back to the beginning of the line, and erase it.
    if (this.#process.isTerminal) this.#process.err(`\r\x1b[K${text}`)
  }
}
