/** How often the measurements are drawn again. */
const DRAWS = 2000

const sum = (values) => values.reduce((a, b) => a + b, 0)

/** The middle half of the values, averaged: a neighbour's burst of work counts no more than its turn. */
export function midMean (values) {
  const sorted = values.toSorted((a, b) => a - b)
  const quarter = Math.floor(sorted.length / 4)
  const middle = sorted.slice(quarter, sorted.length - quarter)
  return sum(middle) / middle.length
}

/**
 * How many times the first server's cost another server costs.
 *
 * @param rounds - one list for each pair of processes, with the ratio of the costs in each turn
 * @returns the ratio, and its 95 % interval by bootstrap. Rounds are drawn and then turns within each, since both
 *   differ by chance: V8 does not compile two processes alike, and other work does not slow two turns alike.
 */
export function ratioOf (rounds) {
  const draws = Array.from({ length: DRAWS }, () => geometricMean(draw(rounds).map((turns) => midMean(draw(turns)))))
  draws.sort((a, b) => a - b)
  return {
    ratio: geometricMean(rounds.map(midMean)),
    from: draws[Math.floor(DRAWS * 0.025)],
    to: draws[Math.floor(DRAWS * 0.975)]
  }
}

const geometricMean = (values) => Math.exp(sum(values.map(Math.log)) / values.length)

const draw = (values) => values.map(() => values[Math.floor(Math.random() * values.length)])
