// Explores every order in which the steps of a scene can happen. A scene is played again for each new way, and two ways
// that lead to the same state are followed once: what can happen after a state depends on the state alone. Two steps
// that concern nothing in common lead to the same state in either order, which need not be played.

/** Something that can happen next. */
export interface Step {
  /** Names it in a schedule; the same in each play. */
  label: string
  /** What it reads or changes: steps that have nothing of it in common may change places. */
  concerns: string[]
  happen (): Promise<void>
}

/** One play of a scene. */
export interface Play {
  /** What can happen next; empty when all is over. */
  steps (): Step[]
  /** All that the rest of the play depends on, and all that it is judged by. */
  state (): string
  /** What is wrong when all is over. */
  faults (): Promise<string[]>
}

/** A schedule after which something is wrong. */
export interface Violation {
  fault: string
  schedule: string[]
}

export interface Exploration {
  /** How many different schedules there are. */
  schedules: bigint
  /** How many states they lead through. */
  states: number
  /** Of each fault the shortest schedule, and every state in which it was found. */
  violations: Violation[]
}

/** The state that each step leads to, by its label. */
interface Node { edges: Map<string, string>, faults: string[] }

type Nodes = Map<string, Node>

/** A step from a node. */
interface Arrival { from: Node, step: Step }

/** A step that is still to be followed: its schedule, and how the play came to the node that it leaves. */
interface Branch extends Arrival { way: string[], arrival: Arrival | null }

/** Plays the scene in every order; with `playAll` also those that only change places of unrelated steps. */
export async function explore (begin: () => Promise<Play>, playAll = false): Promise<Exploration> {
  const nodes: Nodes = new Map()
  const isKnown = (branch: Omit<Branch, 'way'>) => !playAll && isPlayedInOtherOrder(branch, nodes)
  const first = await begin()
  const start = first.state()
  const branches = await follow(first, [], null, nodes, isKnown)
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    if (isKnown(branch)) continue
    const play = await replay(begin, branch.way)
    branch.from.edges.set(branch.step.label, play.state())
    branches.push(...await follow(play, branch.way, branch, nodes, isKnown))
  }
  return { schedules: count(nodes, start), states: nodes.size, violations: shortest(nodes, start) }
}

async function replay (begin: () => Promise<Play>, way: string[]): Promise<Play> {
  const play = await begin()
  for (const label of way) {
    const step = play.steps().find((step) => step.label === label)
    if (step === undefined) throw new Error(`The play differs from the last one: "${label}" cannot happen now`)
    await step.happen()
  }
  return play
}

/** Follows a play to a known state or to its end, always by the first step. Returns where else it could have gone. */
async function follow (
  play: Play,
  way: string[],
  arrival: Arrival | null,
  nodes: Nodes,
  isKnown: (branch: Omit<Branch, 'way'>) => boolean
): Promise<Branch[]> {
  const branches: Branch[] = []
  for (let state = play.state(); !nodes.has(state); state = play.state()) {
    const steps = play.steps()
    const from: Node = { edges: new Map(), faults: steps.length === 0 ? await play.faults() : [] }
    nodes.set(state, from)
    const [next, ...others] = steps.map((step) => ({ from, step, way: [...way, step.label], arrival }))
      .filter((branch) => !isKnown(branch))
    branches.push(...others)
    if (next === undefined) break
    await next.step.happen()
    from.edges.set(next.step.label, play.state())
    way = next.way
    arrival = next
  }
  return branches
}

/**
 * Whether the step could as well have happened before the last one, and was played in that order: both orders lead to
 * the same state, which is then noted.
 */
function isPlayedInOtherOrder ({ from, step, arrival }: Omit<Branch, 'way'>, nodes: Nodes): boolean {
  if (arrival === null || arrival.step.concerns.some((what) => step.concerns.includes(what))) return false
  const other = nodes.get(arrival.from.edges.get(step.label) ?? '')
  const to = other?.edges.get(arrival.step.label)
  if (to !== undefined) from.edges.set(step.label, to)
  return to !== undefined
}

/** The number of ways from the start to an end. */
function count (nodes: Nodes, start: string): bigint {
  const known = new Map<string, bigint>()
  const ways = (state: string): bigint => {
    const { edges } = nodes.get(state) as Node
    let sum = known.get(state)
    sum ??= edges.size === 0 ? 1n : [...edges.values()].reduce((sum, to) => sum + ways(to), 0n)
    known.set(state, sum)
    return sum
  }
  return ways(start)
}

/** For each fault the shortest way to a state that has it. */
function shortest (nodes: Nodes, start: string): Violation[] {
  const found = new Map<string, Violation>()
  const ways = new Map<string, string[]>([[start, []]])
  for (const [state, way] of ways) {
    const { edges, faults } = nodes.get(state) as Node
    for (const fault of faults) if (!found.has(fault)) found.set(fault, { fault, schedule: way })
    // A Map is walked in the order of insertion, new entries included: nearest first.
    for (const [label, to] of [...edges].sort()) if (!ways.has(to)) ways.set(to, [...way, label])
  }
  return [...found.values()]
}
