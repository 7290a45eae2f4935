import { type Bench } from './bench.ts'

/** What came of a rule: it pass, it does not (and what came instead), or it could not be tried (and why). */
export type Verdict =
  | { outcome: 'pass' }
  | { outcome: 'fail', got: string, /** Where more is known than the rule's own advice. */ fix?: string }
  | { outcome: 'untested', reason: string }

/** One thing that a service must or should do. */
export interface Rule {
  /** Stable: endpoint, dot, subject. */
  id: string
  /** Where it is written. */
  section: string
  /** `must`: the spec or an RFC demands it; a failure ends in exit code 1. `should`: sound practice, shown as advice. */
  severity: 'must' | 'should'
  /** What pass, in one sentence. */
  sentence: string
  fix: string
  test: (bench: Bench) => Promise<Verdict>
}

export const pass: Verdict = { outcome: 'pass' }

export function fail (got: string, fix?: string): Verdict {
  return { outcome: 'fail', got, ...(fix === undefined ? {} : { fix }) }
}

/** Holds, or is fail with what came. */
export const when = (fine: boolean, got: string): Verdict => fine ? pass : fail(got)

/** The first verdict that is not `pass`. */
export async function everyOf<Item> (items: readonly Item[], test: (item: Item) => Promise<Verdict>): Promise<Verdict> {
  for (const item of items) {
    const verdict = await test(item)
    if (verdict.outcome !== 'pass') return verdict
  }
  return pass
}
