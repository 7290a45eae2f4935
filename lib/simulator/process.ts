import type { Wait } from '../check/sending.ts'

export type { Wait }

/** What the program needs of the process that runs it. */
export interface Process {
  env: NodeJS.ProcessEnv
  /** Results. */
  out: (text: string) => void
  /** Errors. */
  err: (text: string) => void
  /** Whether a person reads the errors at a terminal, where a line can be written over. */
  isTerminal: boolean
  /** Ends the command. */
  stop: AbortSignal
  /** Lets time pass, until the signal is aborted. Default: real time. */
  wait?: Wait
}
