/** What may differ between two cases: the values of each dimension. */
type Dimensions = Record<string, readonly unknown[]>

export type CaseOf<D extends Dimensions> = { [Name in keyof D]: D[Name][number] }

type Setting = readonly [name: string, value: unknown]

/** All pairs of values of two dimensions. */
function pairsOf (dimensions: Dimensions): Array<readonly [Setting, Setting]> {
  const names = Object.keys(dimensions)
  const settings = (name: string): Setting[] => (dimensions[name] ?? []).map((value) => [name, value])
  return names.flatMap((one, index) => names.slice(index + 1).flatMap((other) =>
    settings(one).flatMap((first) => settings(other).map((second) => [first, second] as const))))
}

/** Whether the case has the setting; of a case that is not complete, whether it has it already. */
const has = (made: Record<string, unknown>, [name, value]: Setting): boolean =>
  name in made && made[name] === value

/**
 * Cases in which each value of a dimension meets each value of every other one (a pairwise covering array), by the
 * greedy algorithm: a case begins with a pair that no case has, and takes of each further dimension the value that
 * completes most such pairs; where none does, the values in turn. The same cases each time.
 */
export function pairwise<D extends Dimensions> (dimensions: D): Array<CaseOf<D>> {
  const cases: Array<Record<string, unknown>> = []
  let open = pairsOf(dimensions)
  for (let [first] = open; first !== undefined; [first] = open) {
    const made: Record<string, unknown> = Object.fromEntries(first)
    for (const [name, values] of Object.entries(dimensions)) {
      if (name in made) continue
      const gain = (value: unknown): number => open.filter(([one, other]) =>
        (has({ [name]: value }, one) && has(made, other)) || (has({ [name]: value }, other) && has(made, one))).length
      const gains = values.map(gain)
      const most = Math.max(...gains)
      made[name] = values[most === 0 ? cases.length % values.length : gains.indexOf(most)]
    }
    cases.push(made)
    open = open.filter(([one, other]) => !(has(made, one) && has(made, other)))
  }
  return cases as Array<CaseOf<D>>
}
