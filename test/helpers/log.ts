/** A logger at `trace`, and the text of all that it has logged. */
export function capture () {
  const lines: string[] = []
  const stream = { write: (line: string) => { lines.push(line) } }
  return { logger: { level: 'trace', stream }, text: () => lines.join('') }
}
