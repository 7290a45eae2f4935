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

/**
 * The median, and the bounds between which the true one is with 95 % confidence: order statistics, by the normal
 * approximation of the binomial distribution.
 *
 * @returns {{ median: number, from: number, to: number }}
 */
export function middle (values) {
  const sorted = Float64Array.from(values).sort()
  const reach = 0.98 * Math.sqrt(sorted.length)
  const at = (place) => sorted[Math.min(Math.max(Math.round(place), 0), sorted.length - 1)]
  const centre = (sorted.length - 1) / 2
  return { median: spread(values).median, from: at(centre - reach), to: at(centre + reach) }
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
