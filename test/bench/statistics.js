/** The value below which the share `part` of the values lies. */
export function quantile (values, part) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}

/** @returns {{ median: number, min: number, max: number }} */
export function spread (values) {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, min: sorted[0], max: sorted[sorted.length - 1] }
}

/** Least-squares slope of y over x. */
export function slope (points) {
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  return above / below
}

function mean (values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
