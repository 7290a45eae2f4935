import { createRequire } from 'node:module'
import { escape, escapeLines } from '../flow/escape.ts'
import { check, CHECK_HELP } from './check/check.ts'
import { CannotRun } from './flags.ts'
import type { Process } from './process.ts'
import { serve, SERVE_HELP } from './serve/serve.ts'

const HELP = `Usage: fastify-partner-sso <command> [flags]

Plays the dispute-management portal against a service that signs its users in.

Commands:
  serve   a web page that plays the portal and shows every step of a sign-in
  check   drives a running app as the portal does, and says what is wrong and how to fix it

fastify-partner-sso <command> --help lists the flags of a command; fastify-partner-sso --version prints the version.
`

const COMMANDS = new Map([
  ['serve', { run: serve, help: SERVE_HELP }],
  ['check', { run: check, help: CHECK_HELP }]
])

/**
 * The program `fastify-partner-sso`.
 *
 * @returns the exit code: 0 on success, 1 when a check failed, 2 when it could not run
 */
export async function run (argv: string[], process: Process): Promise<number> {
  const [name = '', ...flags] = argv
  const command = COMMANDS.get(name)
  if (argv.includes('--help') || argv.includes('-h')) {
    process.out(command?.help ?? HELP)
    return 0
  }
  if (argv.includes('--version')) {
    const { version } = createRequire(import.meta.url)('fastify-partner-sso/package.json')
    process.out(`${version}\n`)
    return 0
  }
  try {
    if (command !== undefined) return await command.run(flags, process)
    process.err(name === '' ? HELP : `There is no command ${escape(name)}: see --help.\n`)
  } catch (error) {
    process.err(`${messageOf(error)}\n`)
  }
  return 2
}

/** One line for an expected error; a stack for any other. */
const messageOf = (error: unknown): string =>
  error instanceof CannotRun
    ? escape(error.message)
    : `Unexpected error: ${escapeLines(String((error as Error).stack))}`
