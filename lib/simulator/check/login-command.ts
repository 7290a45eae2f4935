import { spawn } from 'node:child_process'
import { type Cookie, parseGiven } from '../../testing/cookies.ts'
import { CannotRun } from '../flags.ts'

/** Milliseconds. */
const LONGEST = 30_000
/** Characters of output that are read. */
const MOST_OUTPUT = 1024 * 1024

export interface LoggedIn {
  cookies: Cookie[]
  /** Whether the command printed a response with a redirect, as `curl -i` shows it. */
  redirects: boolean
}

/**
 * Runs a command that logs the user in, and reads the cookies that it prints: `Set-Cookie:` lines, as `curl -si` shows
 * them, or else its last line as `name=value; name=value`.
 *
 * @throws CannotRun when the command fails, takes more than half a minute or prints no cookie
 */
export async function loggedIn (command: string, longest = LONGEST): Promise<LoggedIn> {
  const output = await outputOf(command, longest)
  const lines = output.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '')
  const set = parseGiven(output)
  const cookies = /^set-cookie:/im.test(output) ? set : parseGiven(lines.at(-1) ?? '')
  const redirects = lines.some((line) => /^HTTP\/[\d.]+ 30[1-8]\b/.test(line))
  if (cookies.some(({ value }) => value !== '')) return { cookies, redirects }
  const response = lines.find((line) => /^HTTP\/[\d.]+ \d{3}/.test(line))
  throw new CannotRun(`The login command printed no cookie${response === undefined ? '' : ` (it got ${response})`}: ` +
    'it must print Set-Cookie lines, or name=value as its last line.')
}

/** A process group of its own, so that the time limit ends what the shell has started as well. */
function outputOf (command: string, longest: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => reject(new CannotRun(`The login command failed: ${why}.`))
    if (command.trim() === '' || command.includes('\0')) return failed('it is empty or has a null character')
    const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk) => { said[name] = `${said[name]}${String(chunk)}`.slice(-MOST_OUTPUT) })
    }
    const timer = setTimeout(() => {
      process.kill(-Number(child.pid), 'SIGKILL')
      failed(`it took more than ${longest / 1000} s`)
    }, longest)
    child.on('error', (error) => failed(error.message))
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code === 0) return resolve(said.stdout)
      return failed(said.stderr.trim().split('\n').at(-1) || `exit code ${code}`)
    })
  })
}
