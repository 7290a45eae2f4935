import type { Watch } from '../rules/run-rules.ts'

/** Shows on a terminal which rule is tried, in one line that rewrites itself. Elsewhere nothing is written. */
export function progress (err: (text: string) => void, columns: number | undefined): Watch {
  if (columns === undefined) return { begins: () => {}, ends: () => {} }
  const count = (number: number, total: number): string => `${String(number).padStart(String(total).length)}/${total}`
  const clear = '\r\x1b[2K'
  return {
    begins: ({ id, sentence }, number, total) =>
      err(`${clear}${`${count(number, total)} ${id}: ${sentence}`.slice(0, columns - 1)}`),
    ends: () => err(clear)
  }
}
