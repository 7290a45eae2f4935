/**
 * The median, and the bounds between which the true one lies with 95 % confidence: order statistics, by the normal
 * approximation of the binomial distribution.
 */
export function median (values) {
  const sorted = Float64Array.from(values).sort()
  const centre = (sorted.length - 1) / 2
  const reach = 0.98 * Math.sqrt(sorted.length)
  const at = (place) => sorted[Math.min(Math.max(Math.round(place), 0), sorted.length - 1)]
  const value = (sorted[Math.floor(centre)] + sorted[Math.ceil(centre)]) / 2
  return { value, from: at(centre - reach), to: at(centre + reach) }
}

/** The medians' counterpart for growth: the least-squares slope of the points, with its 95 % confidence interval. */
export function slope (points) {
  const centre = [0, 1].map((axis) => mean(points.map((point) => point[axis])))
  const moved = points.map(([x, y]) => [x - centre[0], y - centre[1]])
  const squares = sum(moved.map(([x]) => x * x))
  const value = sum(moved.map(([x, y]) => x * y)) / squares
  const residue = sum(moved.map(([x, y]) => (y - value * x) ** 2)) / (points.length - 2)
  const reach = 2 * Math.sqrt(residue / squares)
  return { value, from: value - reach, to: value + reach }
}

const sum = (values) => values.reduce((total, value) => total + value, 0)
const mean = (values) => sum(values) / values.length

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
