/** A logger at `trace` that keeps what it is told. */
export interface Captured {
  logger: { level: 'trace', stream: { write (line: string): void } }
  /** All that was logged, as it was written. */
  text (): string
}

export function capture (): Captured {
  const lines: string[] = []
  return { logger: { level: 'trace', stream: { write: (line) => { lines.push(line) } } }, text: () => lines.join('') }
}
