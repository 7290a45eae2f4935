import { exec } from 'node:child_process'
import { type Cookie, parseGiven, parseSetCookie } from '../../testing/cookies.ts'
import { CannotRun } from '../flags.ts'

const LONGEST = 30_000

/**
 * Runs a command that logs the user in, and reads the cookies that it prints: `Set-Cookie:` lines, as `curl -si` shows
 * them, or else its last line as `name=value; name=value`.
 *
 * @throws CannotRun when the command fails, takes more than half a minute or prints no cookie
 */
export async function cookiesOf (command: string, longest = LONGEST): Promise<Cookie[]> {
  const output = await outputOf(command, longest)
  const lines = output.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '')
  const set = lines.flatMap((line) => parseSetCookie(/^set-cookie:\s*(.*)$/i.exec(line)?.[1] ?? '') ?? [])
  const cookies = set.length > 0 ? set : parseGiven(lines.at(-1) ?? '')
  if (!cookies.some(({ value }) => value !== '')) throw new CannotRun('The login command printed no cookie: it must print Set-Cookie lines, or name=value as its last line.')
  return cookies
}

function outputOf (command: string, timeout: number): Promise<string> {
  return new Promise((resolve, reject) => {
    exec(command, { timeout }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      const why = error.killed === true ? `it took more than ${timeout / 1000} s` : stderr.trim().split('\n').at(-1) || `exit code ${error.code}`
      reject(new CannotRun(`The login command failed: ${why}.`))
    })
  })
}
