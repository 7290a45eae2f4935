import fc from 'fast-check'

/** What may differ between two cases: the values of each dimension. */
type Dimensions = Record<string, readonly unknown[]>

export type CaseOf<D extends Dimensions> = { [Name in keyof D]: D[Name][number] }

/** So many random cases have each pair of values many times. */
const CANDIDATES = 300

/** The pairs of values that meet in a case. */
function pairsOf (one: object): string[] {
  const settings = Object.entries(one).map((setting) => JSON.stringify(setting))
  return settings.flatMap((first, index) => {
    const others = settings.slice(index + 1)
    return others.map((second) => first + second)
  })
}

/**
 * Cases in which each value of a dimension meets each value of every other one (a pairwise covering array): of random
 * cases always the one with most pairs that no case has yet. The same cases each time.
 */
export function pairwise<D extends Dimensions> (dimensions: D): Array<CaseOf<D>> {
  const values: Record<string, fc.Arbitrary<unknown>> = {}
  for (const [name, all] of Object.entries(dimensions)) values[name] = fc.constantFrom(...all)
  const candidates = fc.sample(fc.record(values), { seed: 2, numRuns: CANDIDATES }) as Array<CaseOf<D>>
  const cases: typeof candidates = []
  const met = new Set<string>()
  const gain = (one: object): number => pairsOf(one).filter((pair) => !met.has(pair)).length
  while (true) {
    const best = candidates.reduce((best, one) => gain(one) > gain(best) ? one : best)
    if (gain(best) === 0) return cases
    cases.push(best)
    for (const pair of pairsOf(best)) met.add(pair)
  }
}
