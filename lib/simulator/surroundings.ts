import { type Environment } from './flags.ts'

/** What the program needs of the process that runs it. */
export interface Surroundings {
  env: Environment
  /** Results. */
  out: (text: string) => void
  /** Progress and errors. */
  err: (text: string) => void
  /** Columns of a terminal; undefined when the output goes elsewhere: then no colours, no line that rewrites itself. */
  columns?: number | undefined
  /** Ends the command. */
  stop: AbortSignal
}
