import { type Bench } from './bench.ts'
import { Inconclusive } from './untested.ts'

/** `must`: the portal or an RFC demands it. `should`: sound practice, shown as advice. */
export type Severity = 'must' | 'should'

/** The result of a rule. */
export type Verdict =
  | { outcome: 'pass' }
  | {
    outcome: 'fail'
    got: string
    /** Where more is known than the rule's own advice. */
    fix?: string
    /** Where this finding is less certain than the rule's other ones. */
    severity?: Severity
  }
  | { outcome: 'untested', reason: string }

/** One thing that a service must or should do. */
export interface Rule {
  /** Stable: endpoint, dot, subject. */
  id: string
  /** Where it is written, or the subject in plain words. */
  section: string
  severity: Severity
  /** What a correct service does, in one sentence. */
  sentence: string
  fix: string
  /** Rules whose failure causes this one to fail as well: then it is not tried. */
  after?: readonly string[]
  test: (bench: Bench) => Promise<Verdict>
}

export const pass: Verdict = { outcome: 'pass' }

export function fail (got: string, fix?: string, severity?: Severity): Verdict {
  const more = { ...fix === undefined ? {} : { fix }, ...severity === undefined ? {} : { severity } }
  return { outcome: 'fail', got, ...more }
}

/** Passes, or fails with what was got. */
export const when = (good: boolean, got: string): Verdict => good ? pass : fail(got)

/** The first verdict that is no pass. */
export async function everyOf<Item> (
  items: readonly Item[], test: (item: Item) => Promise<Verdict>
): Promise<Verdict> {
  for (const item of items) {
    const verdict = await test(item)
    if (verdict.outcome !== 'pass') return verdict
  }
  return pass
}

/** A code or token that expires sooner is of no use to a portal, in milliseconds. */
const SHORTEST_LIFETIME = 1000
const ROUNDS = 3

/**
 * A rule about what must succeed. A failure counts only where the whole trial took less time than any code lives: on a
 * slow machine a correct service refuses a code that has expired on the way.
 *
 * @throws Inconclusive when each of three rounds was too slow
 */
export async function inTime (trial: () => Promise<Verdict>): Promise<Verdict> {
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    const verdict = await trial()
    if (verdict.outcome !== 'fail' || performance.now() - start < SHORTEST_LIFETIME) return verdict
  }
  throw new Inconclusive('the service is so slow that a code may expire before it is used')
}
