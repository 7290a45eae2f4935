import type { Watch } from '../../check/run.ts'

export const CLEAR_LINE = '\r\x1b[2K'

/**
 * Shows on a terminal which rule is tried, in one line that rewrites itself. Elsewhere nothing is
 * written.
 */
export function progress (err: (text: string) => void, columns: number | undefined): Watch {
  if (columns === undefined) return () => {}
  return ({ id, sentence }, number, total) => {
    const count = `${String(number).padStart(String(total).length)}/${total}`
    err(`${CLEAR_LINE}${`${count} ${id}: ${sentence}`.slice(0, columns - 1)}`)
  }
}
