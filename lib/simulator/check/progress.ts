import { type Watch } from './examination.ts'
import { type Paint, paintedWord } from './report.ts'

/** Shows how far the check is: a line that rewrites itself on a terminal, else a line for each rule. */
export function progress (err: (text: string) => void, columns: number | undefined, paint: Paint): Watch {
  const count = (number: number, total: number): string => `${String(number).padStart(String(total).length)}/${total}`
  if (columns === undefined) {
    return {
      begins: () => {},
      found: (finding, number, total) => err(`${count(number, total)} ${paintedWord(finding, paint, 8)} ${finding.rule.id}\n`)
    }
  }
  return {
    begins: (rule, number, total) => err(`\r\x1b[2K${`${count(number, total)} ${rule.id}: ${rule.sentence}`.slice(0, columns - 1)}`),
    found: (_finding, number, total) => { if (number === total) err('\r\x1b[2K') }
  }
}
