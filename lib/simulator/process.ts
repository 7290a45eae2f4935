import type { Wait } from '../check/sending.ts'

export type { Wait }

/** What the program needs of the process that runs it. */
export interface Process {
  env: Record<string, string | undefined>
  /** Results. */
  out: (text: string) => void
  /** Progress and errors. */
  err: (text: string) => void
  /**
   * Columns of the terminal. Undefined when the output goes elsewhere: then it has no colours, and
   * no line that rewrites itself.
   */
  columns?: number | undefined
  /** Ends the command. */
  stop: AbortSignal
  /** Lets time pass, until the signal is aborted. Default: real time. */
  wait?: Wait
}
