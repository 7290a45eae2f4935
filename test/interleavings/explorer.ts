// Explores every order in which the steps of a scene can happen. A scene is played again for each new way, and two ways
// that lead to the same state are followed once: what can happen after a state depends on the state alone.

/** Something that can happen next. */
export interface Step {
  /** Names it in a schedule; the same in each play. */
  label: string
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

interface Node { edges: Array<{ label: string, to: string }>, faults: string[] }

/** A way that branches off from a node and is still to be followed. */
interface Branch { way: string[], from: Node }

/** Plays the scene in every order. */
export async function explore (begin: () => Promise<Play>): Promise<Exploration> {
  const nodes = new Map<string, Node>()
  const first = await begin()
  const start = first.state()
  const branches = await follow(first, [], nodes)
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    const play = await replay(begin, branch.way)
    branch.from.edges.push({ label: branch.way.at(-1) as string, to: play.state() })
    branches.push(...await follow(play, branch.way, nodes))
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
async function follow (play: Play, way: string[], nodes: Map<string, Node>): Promise<Branch[]> {
  const branches: Branch[] = []
  for (let state = play.state(); !nodes.has(state); state = play.state()) {
    const [next, ...others] = play.steps()
    const node: Node = { edges: [], faults: next === undefined ? await play.faults() : [] }
    nodes.set(state, node)
    if (next === undefined) break
    for (const { label } of others) branches.push({ way: [...way, label], from: node })
    way = [...way, next.label]
    await next.happen()
    node.edges.push({ label: next.label, to: play.state() })
  }
  return branches
}

/** The number of ways from the start to an end. */
function count (nodes: Map<string, Node>, start: string): bigint {
  const known = new Map<string, bigint>()
  const ways = (state: string): bigint => {
    const { edges } = nodes.get(state) as Node
    let sum = known.get(state)
    sum ??= edges.length === 0 ? 1n : edges.reduce((sum, { to }) => sum + ways(to), 0n)
    known.set(state, sum)
    return sum
  }
  return ways(start)
}

/** For each fault the shortest way to a state that has it. */
function shortest (nodes: Map<string, Node>, start: string): Violation[] {
  const found = new Map<string, Violation>()
  const ways = new Map<string, string[]>([[start, []]])
  for (const [state, way] of ways) {
    const { edges, faults } = nodes.get(state) as Node
    for (const fault of faults) if (!found.has(fault)) found.set(fault, { fault, schedule: way })
    // A Map is walked in the order of insertion, new entries included: nearest first.
    for (const { label, to } of edges) if (!ways.has(to)) ways.set(to, [...way, label])
  }
  return [...found.values()]
}
