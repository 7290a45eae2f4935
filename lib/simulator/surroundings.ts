import { type Environment } from './flags.ts'

/** What the program needs of the process that runs it. */
export interface Surroundings {
  env: Environment
  /** Results. */
  out: (text: string) => void
  /** Progress and complaints. */
  err: (text: string) => void
  /** Columns of a terminal, or undefined when the output goes elsewhere: then no colours, no lines that rewrite themselves. */
  columns?: number | undefined
  /** Ends `serve`. */
  stop: AbortSignal
}
