// Single use does not depend on timing. The requests of a sign-in, a replay, a forged token, lifetimes that end and
// the faults of a store are run in every order in which they can happen, over the real routes, codes and tokens. No
// code or token succeeds twice, and no token is alive after a replay was refused.
//
// Faults, at each operation of the store: the command is lost before it is executed, its reply is lost, the reply comes
// after the time limit, the reply has come when the time limit is over and is read before the timer fires, the command
// is refused, the command is queued in a transaction of the host, the process ends. At any time: Redis is full, and
// refuses SET. A minute is the lifetime of codes and tokens, and half that of a revocation.
// Alone: it sets the clock of its process.
import '../helpers/virtual-clock.ts'
import t from 'tap'
import type { Store } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { authorization, forged, play, redemption, user } from './scenes.ts'
import type { Scene } from './scenes.ts'
import { steppedMemory } from './stepped-memory.ts'
import { steppedRedis } from './stepped-redis.ts'
import type { SteppedStore } from './world.ts'

const ALIVE = 'a token is alive although a replay was refused'

const sceneOf = (name: string, faults: number, minutes: number, ...roles: Scene['roles']): Scene =>
  ({ name, faults, minutes, roles })

const first = redemption('redemption')
const second = redemption('replay')
const stranger = forged('stranger')

const used = user('user')

const scenes: Scene[] = [
  sceneOf('an authorization, its redemption and a replay', 1, 0, authorization, first, second),
  sceneOf('a redemption and a replay, and the record', 1, 1, first, second, used),
  sceneOf('a redemption and a replay, with two faults', 2, 0, first, second),
  sceneOf('a redemption and a replay, while a revocation ends', 1, 2, first, second),
  sceneOf('a token used twice', 1, 1, first, used, user('again')),
  sceneOf('a redemption, a replay and a forged token', 1, 0, first, second, stranger),
  sceneOf('three redemptions', 0, 0, first, second, redemption('third'))
]

await t.test('the orders that are left out have no other faults', async (t) => {
  const scenes = [
    { scene: sceneOf('on Redis', 1, 0, first, second), store: () => steppedRedis() },
    { scene: sceneOf('with a mistake', 1, 0, first, second), store: () => steppedRedis('SET ignores NX') },
    { scene: sceneOf('in process', 0, 1, first, second, used), store: () => steppedMemory() }
  ]
  for (const { scene, store } of scenes) {
    const some = await play(scene, store())
    const all = await play(scene, store(), true)
    t.ok(some.states.size < all.states.size, scene.name)
    t.strictSame(new Set(some.violations.keys()), new Set(all.violations.keys()), scene.name)
  }
})

let plays = 0
let states = 0
for (const scene of scenes) {
  const stores = {
    'on Redis': () => play(scene, steppedRedis()),
    'in one process': () => play({ ...scene, faults: 0 }, steppedMemory())
  }
  for (const [where, explore] of Object.entries(stores)) {
    await t.test(`${scene.name}, ${where}`, async (t) => {
      const result = await explore()
      plays += result.plays
      states += result.states.size
      t.comment(`${result.plays} plays, ${result.states.size} states`)
      t.strictSame(result.violations, new Map())
    })
  }
}

/** An in-process store whose `take` keeps the value. */
const keepsValue = (limit: number): Store => {
  const store = new MemoryStore(limit)
  return {
    put: (...given) => store.put(...given),
    revoke: (...given) => store.revoke(...given),
    async take (key) {
      const value = await store.take(key)
      if (value !== null) await store.put(key, value, 60)
      return value
    }
  }
}

const twoRedemptions = sceneOf('', 0, 0, first, second)
const twoUses = sceneOf('', 0, 0, first, used, user('again'))
const oneFault = sceneOf('', 1, 0, first)
const RETURNED_TWICE = 'a token returned the record twice'
const CODE_LOST = 'a code whose request got 503 before its command was executed is lost, because ' +
  'redemption: take code is refused'

const mistakes: Array<{ mistake: string, store: SteppedStore, scene: Scene, fault: string }> = [
  ...([
    ['SET ignores NX', twoRedemptions, ALIVE],
    ['GETDEL keeps the value', twoRedemptions, ALIVE],
    ['GETDEL keeps the value', twoUses, RETURNED_TWICE],
    ['SET GET changes nothing', twoRedemptions, ALIVE],
    ['SET GET needs a value', twoRedemptions, ALIVE],
    ['a refused command is executed', oneFault, CODE_LOST]
  ] as const).map(([mistake, scene, fault]) => ({ mistake, store: steppedRedis(mistake), scene, fault })),
  { mistake: 'take keeps the value', store: steppedMemory(keepsValue), scene: twoUses, fault: RETURNED_TWICE }
]

await t.test('each mistake in a store is found', async (t) => {
  for (const { mistake, store, scene, fault } of mistakes) {
    const { violations } = await play(scene, store)
    t.ok(violations.has(fault), `${mistake}: ${fault}`, { violations })
  }
})

t.comment(`${plays} plays, ${states} states in all`)
