// Explores every order in which the steps of a scene can happen. A scene is played again for each new way, and ways
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

export interface Exploration {
  states: Set<string>
  /** Each fault, with a schedule after which it is there. */
  violations: Map<string, string[]>
}

/** Plays the scene in every order. */
export async function explore (begin: () => Promise<Play>): Promise<Exploration> {
  const exploration: Exploration = { states: new Set(), violations: new Map() }
  const ways: string[][] = [[]]
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const play = await replay(begin, way)
    ways.push(...await follow(play, way, exploration))
  }
  return exploration
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
async function follow (play: Play, way: string[], { states, violations }: Exploration): Promise<string[][]> {
  const others: string[][] = []
  for (let state = play.state(); !states.has(state); state = play.state()) {
    states.add(state)
    const [next, ...rest] = play.steps()
    if (next === undefined) {
      for (const fault of await play.faults()) violations.set(fault, way)
      break
    }
    others.push(...rest.map(({ label }) => [...way, label]))
    way = [...way, next.label]
    await next.happen()
  }
  return others
}
