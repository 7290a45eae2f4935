// The scenes: which requests meet, and what must be true when all is over.
import { randomBytes } from 'node:crypto'
import { byClock, newClock } from './clock.ts'
import { explore } from './explorer.ts'
import type { Exploration } from './explorer.ts'
import { NAME_LENGTH } from '../../lib/grants/keys.ts'
import { authorizeRequest, host, tokenRequest, userRequest, World } from './world.ts'
import type { Role, SteppedStore } from './world.ts'

/** What is known before a scene begins. */
export interface Known {
  /** Undefined where the scene issues it. */
  code: string | undefined
  /** The part of the token that is derived from the code: all but its sealing key. */
  locator: string
}

export interface Scene {
  name: string
  roles (known: Known): Role[]
  /** How many faults may happen. */
  faults: number
  /** How many minutes may pass. */
  minutes: number
  /** Whether the code is issued in the scene. */
  issues?: boolean
}

/** A request that redeems the code, once there is one. */
export const redemption = (name: string) => ({ code }: Known): Role => ({
  name,
  request (outcomes) {
    const issued = code ?? outcomes.get('authorization')?.given
    return issued === undefined ? null : tokenRequest(issued)
  }
})

/** A request for the record, with the token that was issued. */
export const user = (name: string) => (): Role => ({
  name,
  request (outcomes) {
    const token = [...outcomes.values()].find(({ given }) => given !== undefined)?.given
    return token === undefined ? null : userRequest(token)
  }
})

/** A token that someone made up who has seen the code. */
export const madeUp = (name: string) => ({ locator }: Known): Role =>
  ({ name, request: () => userRequest(locator + randomBytes(32).toString('base64url')) })

/** The request that a code is issued for. */
export const authorization = (): Role => ({ name: 'authorization', request: () => authorizeRequest })

/** Plays a scene in every order (explore). Unless the scene issues its own code, one is there when it begins. */
export async function play (scene: Scene, store: SteppedStore, playAll = false): Promise<Exploration> {
  const app = await host(store)
  await app.ready()
  const { known, restore } = await byClock(newClock(), async () => {
    const nothing = store.save()
    const { headers } = await app.inject(authorizeRequest)
    const code = new URL(String(headers.location)).searchParams.get('code') as string
    const issued = store.save()
    const { access_token: token } = (await app.inject(tokenRequest(code))).json()
    const locator = token.slice(0, NAME_LENGTH)
    return scene.issues === true
      ? { known: { code: undefined, locator }, restore: nothing }
      : { known: { code, locator }, restore: issued }
  })
  const roles = scene.roles(known)
  const setting = { ...scene, app, store, roles, playAll, judge: (world: World) => judge(world, known) }
  return await explore(async () => {
    await restore()
    return new World(setting)
  })
}

/** Everything that must be true at the end; one sentence for each thing that is not. */
async function judge (world: World, known: Known): Promise<string[]> {
  const outcomes = [...world.outcomes]
  const code = world.outcomes.get('authorization')?.given ?? known.code
  const tokens = outcomes.flatMap(([, { status, given }]) => status === 200 && given !== undefined ? [given] : [])
  const faults = [
    tokens.length > 1 ? 'a code yielded two tokens' : null,
    outcomes.filter(([name, { status }]) => ['user', 'again'].includes(name) && status === 200).length > 1
      ? 'a token yielded the record twice'
      : null,
    world.outcomes.get('stranger')?.status === 200 ? 'a made-up token yielded the record' : null,
    await isAliveAfterReplay(world, tokens) ? 'a token is alive although a replay was refused' : null,
    await isCodeLost(world, code) ? 'a code that was answered 503 before its command was executed is lost' : null,
    await isTokenLost(world, tokens) ? 'a token that was answered 503 before its command was executed is lost' : null
  ]
  const because = world.mishaps.length === 0 ? '' : `, because ${[...world.mishaps].sort().join(' and ')}`
  return faults.filter((fault) => fault !== null).map((fault) => fault + because)
}

/** Whether a token can still be used although another redemption of its code was refused. */
async function isAliveAfterReplay (world: World, tokens: string[]): Promise<boolean> {
  const isRefused = [...world.outcomes.values()].some(({ error }) => error === 'invalid_grant')
  if (!isRefused) return false
  for (const token of tokens) if ((await world.probe(userRequest(token))).status === 200) return true
  return false
}

/** Whether a code cannot be used although it was answered 503 and nobody has taken it. */
async function isCodeLost (world: World, code: string | undefined): Promise<boolean> {
  const isExecuted = world.executed.some((operation) => operation.includes('take code'))
  const isUnexecuted = world.unexecuted.some((operation) => operation.includes('take code'))
  if (code === undefined || world.hasAged || isExecuted || !isUnexecuted) return false
  return (await world.probe(tokenRequest(code))).status !== 200
}

/** Whether a token cannot be used although it was answered 503 and nobody has taken or revoked it. */
async function isTokenLost (world: World, tokens: string[]): Promise<boolean> {
  const isTouched = world.executed.some((operation) => /(?:take|revoke) token/.test(operation))
  const isUnexecuted = world.unexecuted.some((operation) => operation.includes('take token'))
  if (world.hasAged || isTouched || !isUnexecuted) return false
  for (const token of tokens) if ((await world.probe(userRequest(token))).status !== 200) return true
  return false
}
