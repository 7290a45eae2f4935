import { check, CHECK_HELP } from './check/check.ts'
import { CannotRun } from './flags.ts'
import { serve, SERVE_HELP } from './serve/serve.ts'
import { type Surroundings } from './surroundings.ts'

const HELP = `Usage: partner-sso-portal <command> [flags]

Plays the dispute-management portal against a service that signs its users in.

Commands:
  serve   a web page that plays the portal and shows every step of a sign-in
  check   drives a running service through good and bad cases, and says what does not hold

partner-sso-portal <command> --help lists the flags of a command.
`

const COMMANDS: Record<string, { run: (argv: string[], surroundings: Surroundings) => Promise<number>, help: string }> = {
  serve: { run: serve, help: SERVE_HELP },
  check: { run: check, help: CHECK_HELP }
}

/**
 * The program `partner-sso-portal`.
 *
 * @returns the exit code: 0 when all is well, 1 when a check failed, 2 when it could not run
 */
export async function run (argv: string[], surroundings: Surroundings): Promise<number> {
  const [name = '', ...rest] = argv
  const command = COMMANDS[name]
  if (command === undefined) return unknown(name, surroundings)
  if (rest.includes('--help') || rest.includes('-h')) {
    surroundings.out(command.help)
    return 0
  }
  try {
    return await command.run(rest, surroundings)
  } catch (error) {
    surroundings.err(`${error instanceof CannotRun ? error.message : `Unexpectedly: ${String((error as Error).stack)}`}\n`)
    return 2
  }
}

function unknown (name: string, { out, err }: Surroundings): number {
  if (['--help', '-h', 'help'].includes(name)) {
    out(HELP)
    return 0
  }
  err(name === '' ? HELP : `There is no command ${name}. The commands are: ${Object.keys(COMMANDS).join(', ')}.\n`)
  return 2
}
