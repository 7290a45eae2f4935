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

export const CHECK_HELP = `Usage: fastify-partner-sso check --base-url <url> --login <name=value> [flags]

Drives a running app as the portal does, and says what around the plugin is wrong, first the cause: hooks, the login and
its cookie, policies, the records of users, the store, proxies in front. It makes about a hundred requests, among them
one with a wrong client_secret, and replays a few codes. Use users who were made for tests.

Flags:
${INTEGRATION_HELP}
  --redirect-uri <url>      the portal callback, as registered at the app. Nothing needs to listen there
${USER_HELP}
  --json                    print the report as JSON
  --help                    print this help

Exit code: 0 when nothing fails that must not; 1 when something does; 2 when nothing could be judged: no such server,
nobody logged in. Then one sentence says what to do.

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
 * @returns 0; 1 when a rule fails that must not
 * @throws CannotRun also when nothing could be judged
 */
export async function check (argv: string[], { env, out, stop, wait }: Process): Promise<number> {
  const values = readFlags(argv, FLAGS)
  const integration = integrationOf(values, env, needed('redirect-uri', values['redirect-uri']))
  const options = {
    ...usersOf(values, env),
    ...wait && { wait }
  }
  const report = await run(new Subject(integration, options, stop)).catch((error: unknown) => {
    throw stop.aborted ? new CannotRun('The check was interrupted.') : error
  })
  const { rules, stopped } = report
  const counts = summary(report)
  if (values.json) out(`${escapeLines(JSON.stringify({ summary: counts, rules, stopped }, null, 2))}\n`)
  if (stopped !== undefined && counts.failed === 0) throw new CannotRun(stopped)
  if (!values.json) out(text(report))
  return counts.failed > 0 ? 1 : 0
}
