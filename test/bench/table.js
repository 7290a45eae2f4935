/** A Markdown table that is also readable as text. The first column is aligned left, the others right. */
export function table (head, rows) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)))
  const line = (cells) => `| ${cells.map((cell, column) => pad(cell, widths[column], column)).join(' | ')} |`
  const rule = widths.map((width, column) => column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n')
}

const pad = (cell, width, column) => column === 0 ? cell.padEnd(width) : cell.padStart(width)

/** Three significant figures. */
export const figure = (value) => Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3)

/** A value and its confidence interval, in as many places after the point. */
export function interval ({ value, from, to }, places = 2) {
  return `${value.toFixed(places)} (${from.toFixed(places)} to ${to.toFixed(places)})`
}
