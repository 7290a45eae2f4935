// The command that SECURITY.md names for the time of client authentication still runs, with every way to register a
// portal, on every kind of request, inside and over a socket. It judges no time.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

t.test('each kind is measured, in the process and over a socket', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['test/attacks/timing.js', '20'])
  const tables = stdout.trim().split('\n\n')
  const registrations = ['one secret', 'two secrets', 'a function, one secret', 'a function, two secrets']
  t.strictSame(tables.map((table) => table.split(', those')[0]), registrations.flatMap((registration) => [
    `${registration}, authentication alone, 100 of each kind`, `${registration}, over a socket, 20 of each kind`
  ]))
  const kind = /^ {2}(.+): (?:mean|-?\d+ ns more, t = -?[\d.]+$)/
  for (const table of tables) {
    t.strictSame(table.split('\n').slice(1).map((line) => kind.exec(line)?.[1]), [
      'unknown client', 'unknown client again (how far chance goes)', 'wrong secret', 'wrong in the last character',
      'wrong in the first character'
    ], table.split('\n', 1).join())
  }
})
