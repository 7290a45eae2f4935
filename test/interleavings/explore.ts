// The exploration of interleavings.test.ts, a program that prints its results as JSON. Not a test file: tap's hooks on
// each promise would take half as much time again.
import type { Exploration } from './explorer.ts'
import { authorization, play, redemption, user } from './scenes.ts'
import type { Scene } from './scenes.ts'
import { steppedRedis } from './stepped-redis.ts'
import type { Mistake } from './stepped-redis.ts'

const ALIVE = 'a token is alive although a replay was refused'

const sceneOf = (name: string, faults: number, minutes: number, ...roles: Scene['roles']): Scene =>
  ({ name, faults, minutes, roles })

const first = redemption('redemption')
const second = redemption('replay')
const used = user('user')

const scenes: Scene[] = [
  sceneOf('an authorization, its redemption and a replay', 1, 0, authorization, first, second),
  sceneOf('a redemption and a replay, and the record', 1, 0, first, second, used),
  sceneOf('a token used twice', 1, 1, first, used, user('again')),
  sceneOf('three redemptions', 0, 0, first, second, redemption('third'))
]

const plain = ({ states, violations }: Exploration) =>
  ({ states: states.size, violations: Object.fromEntries(violations) })

async function explored (): Promise<object[]> {
  const explorations: object[] = []
  for (const scene of scenes) explorations.push({ name: scene.name, ...plain(await play(scene, steppedRedis())) })
  return explorations
}

const twoRedemptions = sceneOf('', 0, 0, first, second)
const twoUses = sceneOf('', 0, 0, first, used, user('again'))
const oneFault = sceneOf('', 1, 0, first)
const RETURNED_TWICE = 'a token returned the record twice'
const CODE_LOST = 'a code whose request got 503 before its command was executed is lost, because ' +
  'redemption: take code is refused'

const mistakes: Array<[mistake: Mistake, scene: Scene, fault: string]> = [
  ['SET ignores NX', twoRedemptions, ALIVE],
  ['GETDEL keeps the value', twoRedemptions, ALIVE],
  ['GETDEL keeps the value', twoUses, RETURNED_TWICE],
  ['SET GET changes nothing', twoRedemptions, ALIVE],
  ['SET GET needs a value', twoRedemptions, ALIVE],
  ['a refused command is executed', oneFault, CODE_LOST]
]

async function withMistakes (): Promise<object[]> {
  const found: object[] = []
  for (const [name, scene, fault] of mistakes) {
    found.push({ name, fault, ...plain(await play(scene, steppedRedis(name))) })
  }
  return found
}

console.log(JSON.stringify({ explored: await explored(), withMistakes: await withMistakes() }))
