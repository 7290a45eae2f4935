import { readFileSync } from 'node:fs'
import { escape } from '../flow/escape.ts'
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
  const [name = '', ...rest] = argv
  const command = COMMANDS.get(name)
  if (command === undefined) return withoutCommand(name, process)
  if (rest.includes('--help') || rest.includes('-h')) return show(command.help, process)
  if (rest.includes('--version')) return show(version(), process)
  try {
    return await command.run(rest, process)
  } catch (error) {
    process.err(`${messageOf(error)}\n`)
    return 2
  }
}

function withoutCommand (name: string, process: Process): number {
  if (['--help', '-h', 'help'].includes(name)) return show(HELP, process)
  if (['--version', '-v', 'version'].includes(name)) return show(version(), process)
  const commands = [...COMMANDS.keys()].join(', ')
  process.err(
    name === '' ? HELP : `There is no command ${escape(name)}. The commands are: ${commands}.\n`
  )
  return 2
}

function show (text: string, { out }: Process): number {
  out(text)
  return 0
}

/** One line for an expected error; a stack for any other. */
function messageOf (error: unknown): string {
  if (error instanceof CannotRun) return escape(error.message)
  return `Unexpected error: ${String((error as Error).stack).split('\n').map(escape).join('\n')}`
}

/** The version of the package. */
function version (): string {
  const text = readFileSync(new URL(import.meta.resolve('fastify-partner-sso/package.json')), 'utf8')
  return `${JSON.parse(text).version}\n`
}
