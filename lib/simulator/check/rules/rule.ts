import { type Bench } from './bench.ts'

/** What came of a rule: it holds, it does not (and what came instead), or it could not be tried (and why). */
export type Verdict =
  | { outcome: 'holds' }
  | { outcome: 'broken', received: string, /** Where more is known than the rule's own advice. */ mend?: string }
  | { outcome: 'untested', reason: string }

/** One thing that a service must or should do. */
export interface Rule {
  /** Stable: endpoint, dot, subject. */
  id: string
  /** Where it is written. */
  section: string
  /** `must`: the spec or an RFC demands it; a failure ends in exit code 1. `should`: sound practice, shown as advice. */
  severity: 'must' | 'should'
  /** What holds, in one sentence. */
  sentence: string
  mend: string
  test: (bench: Bench) => Promise<Verdict>
}

export const holds: Verdict = { outcome: 'holds' }

export function broken (received: string, mend?: string): Verdict {
  return { outcome: 'broken', received, ...(mend === undefined ? {} : { mend }) }
}

/** Holds, or is broken with what came. */
export const when = (fine: boolean, received: string): Verdict => fine ? holds : broken(received)

/** The first verdict that is not `holds`. */
export async function everyOf<Item> (items: readonly Item[], test: (item: Item) => Promise<Verdict>): Promise<Verdict> {
  for (const item of items) {
    const verdict = await test(item)
    if (verdict.outcome !== 'holds') return verdict
  }
  return holds
}
