const width = 720
const height = 360
const frame = { left: 64, right: 24, top: 72, bottom: 56 }
const style = `
  svg { background: #ffffff; font: 13px system-ui, sans-serif }
  text { fill: #1f2328 } .title { font-size: 15px; font-weight: 600 } .grid { stroke: #d1d9e0 }
  .s0 { --ink: #0550ae } .s1 { --ink: #8250df } .s2 { --ink: #6e7781 } .s3 { --ink: #bc4c00 }
  path, line.range { stroke: var(--ink); fill: none; stroke-width: 2 } line.range { stroke-width: 1 }
  circle { fill: var(--ink) }
  .s1 path { stroke-dasharray: 7 3 } .s2 path { stroke-dasharray: 2 3 } .s3 path { stroke-dasharray: 9 3 2 3 }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #3d444d }
    .s0 { --ink: #58a6ff } .s1 { --ink: #bc8cff } .s2 { --ink: #9198a1 } .s3 { --ink: #f0883e }
  }`

/**
 * A line plot as SVG, for light and dark: the medians, with a bar from the least to the greatest value.
 * The values of x stand at equal distances, y begins at zero.
 *
 * @param {{ title: string, x: string, y: string, ticks: string[],
 *   series: { name: string, points: { median: number, min: number, max: number }[] }[] }} plot
 */
export function plot ({ title, x, y, ticks, series }) {
  const step = niceStep(Math.max(...series.flatMap(({ points }) => points.map(({ max }) => max))) / 5)
  const top = step * Math.ceil(Math.max(...series.flatMap(({ points }) => points.map(({ max }) => max))) / step)
  const atX = (index) => round(frame.left + (index + 0.5) * (width - frame.left - frame.right) / ticks.length)
  const atY = (value) => round(height - frame.bottom - value / top * (height - frame.top - frame.bottom))
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, n) => n * step)

  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`
  const middle = (frame.top + height - frame.bottom) / 2

  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escape(title)}">
<style>${style}
</style>
<text class="title" x="${frame.left}" y="24">${escape(title)}</text>
${series.map(({ name }, n) => legend(name, n, series)).join('\n')}
${lines.map((value) => gridLine(value, atY(value))).join('\n')}
${ticks.map((tick, n) => label(atX(n), height - frame.bottom + 20, 'middle', escape(tick))).join('\n')}
<text x="${(frame.left + width - frame.right) / 2}" y="${height - 12}" text-anchor="middle">${escape(x)}</text>
<text transform="translate(16 ${middle}) rotate(-90)" text-anchor="middle">${escape(y)}</text>
${series.map(({ points }, n) => curve(points, n, atX, atY)).join('\n')}
</svg>
`
}

function gridLine (value, y) {
  const line = `<line class="grid" x1="${frame.left}" x2="${width - frame.right}" y1="${y}" y2="${y}"/>`
  return line + label(frame.left - 8, y + 4, 'end', round(value))
}

function label (x, y, anchor, text) {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`
}

function legend (name, n, series) {
  const x = frame.left + n * (width - frame.left - frame.right) / series.length
  return `<g class="s${n}"><path d="M${round(x)} 46h24"/><text x="${round(x + 30)}" y="50">${escape(name)}</text></g>`
}

function curve (points, n, atX, atY) {
  const marks = points.map(
    ({ median, min, max }, index) =>
      `<line class="range" x1="${atX(index)}" x2="${atX(index)}" y1="${atY(min)}" y2="${atY(max)}"/>` +
      `<circle cx="${atX(index)}" cy="${atY(median)}" r="3"/>`
  )
  const line = points.map(({ median }, index) => `${atX(index)} ${atY(median)}`).join('L')
  return `<g class="s${n}"><path d="M${line}"/>${marks.join('')}</g>`
}

/** 1, 2 or 5 times a power of ten, at least `value`. */
function niceStep (value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value)
}

function round (value) {
  return Math.round(value * 100) / 100
}

function escape (text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
