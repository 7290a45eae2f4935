// The scenes: which requests meet, and what must be true when all is over.
import { explore } from './explorer.ts'
import type { Exploration } from './explorer.ts'
import { newClock, portalOn, World } from './world.ts'
import type { Outcomes, Role, SteppedStore } from './world.ts'

export interface Scene {
  name: string
  roles: Role[]
  /** How many faults may happen. */
  faults: number
  /** How many minutes may pass. */
  minutes: number
}

/** A request that redeems the code, once there is one. */
export const redemption = (name: string): Role => ({
  name,
  request (outcomes) {
    const code = outcomes.get('authorization')?.given
    return code === undefined ? null : (portal) => portal.token({ code })
  }
})

/** A request for the record, with the token that was issued. */
export const user = (name: string): Role => ({
  name,
  request (outcomes) {
    const [token] = tokensOf(outcomes)
    return token === undefined ? null : (portal) => portal.user(token)
  }
})

/** The request that a code is issued for. */
export const authorization: Role = { name: 'authorization', request: () => (portal) => portal.authorize() }

const tokensOf = (outcomes: Outcomes): string[] =>
  [...outcomes.values()].flatMap(({ status, given }) => status === 200 && given !== undefined ? [given] : [])

/** Plays a scene in every order (explore). Unless the scene issues its own code, one is there when it begins. */
export async function play (scene: Scene, store: SteppedStore): Promise<Exploration> {
  const portal = await portalOn(store)
  const isIssued = scene.roles.includes(authorization)
  const code = isIssued ? undefined : await newClock().run(() => portal.code())
  const restore = store.save()
  return await explore(async () => {
    restore()
    return new World({ ...scene, code, portal, store, judge })
  })
}

/** Everything that must be true at the end; one sentence for each thing that is not. */
async function judge (world: World): Promise<string[]> {
  const outcomes = [...world.outcomes]
  const code = world.outcomes.get('authorization')?.given
  const tokens = tokensOf(world.outcomes)
  const isReplayRefused = outcomes.some(([, { error }]) => error === 'invalid_grant')
  const isCodeGood = isUntouched(world, 'take code') && code !== undefined
  const isTokenGood = isUntouched(world, 'take token', 'revoke token')
  const faults = [
    tokens.length > 1 ? 'two tokens were issued for a code' : null,
    outcomes.filter(([name, { status }]) => ['user', 'again'].includes(name) && status === 200).length > 1
      ? 'a token returned the record twice'
      : null,
    isReplayRefused && (await probeTokens(world, tokens)).includes(200)
      ? 'a token is alive although a replay was refused'
      : null,
    isCodeGood && await world.probe((portal) => portal.token({ code })) !== 200
      ? 'a code whose request got 503 before its command was executed is lost'
      : null,
    isTokenGood && (await probeTokens(world, tokens)).some((status) => status !== 200)
      ? 'a token whose request got 503 before its command was executed is lost'
      : null
  ]
  const because = world.mishaps.length === 0 ? '' : `, because ${[...world.mishaps].sort().join(' and ')}`
  return faults.filter((fault) => fault !== null).map((fault) => fault + because)
}

/** Whether a request got 503 before its command was executed, and no other command can have had an effect. */
function isUntouched ({ hasAged, executed, unexecuted }: World, command: string, ...others: string[]): boolean {
  const isAmong = (operations: string[], names: string[]) =>
    operations.some((operation) => names.some((name) => operation.includes(name)))
  return !hasAged && isAmong(unexecuted, [command]) && !isAmong(executed, [command, ...others])
}

async function probeTokens (world: World, tokens: string[]): Promise<number[]> {
  return await Promise.all(tokens.map((token) => world.probe((portal) => portal.user(token))))
}
