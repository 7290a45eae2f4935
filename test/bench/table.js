/**
 * A Markdown table that is also readable as it is. The first column stands left, the others right.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function table (head, rows) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)))
  const pad = (cell, column) => column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
  const ruleOf = (width, column) => column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`
  const line = (cells) => `| ${cells.map(pad).join(' | ')} |`
  const rule = `|${widths.map(ruleOf).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Three significant figures. */
export function figure (value) {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return String(Math.round(value))
  return value.toPrecision(3)
}

/** @param {{ median: number, min: number, max: number }} spread */
export function figures ({ median, min, max }) {
  return `${figure(median)} (${figure(min)}–${figure(max)})`
}
