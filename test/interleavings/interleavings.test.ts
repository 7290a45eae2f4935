// Single use does not rest on luck. The requests of a sign-in, a replay, a made-up token, lifetimes that end and the
// faults of a store are run in every order in which they can happen, over the real routes, codes and tokens, and never
// does a code or token succeed twice. What can still go wrong is listed here, each with its shortest schedule, and is
// what SECURITY.md lists.
//
// Faults, at each operation of the store: the command is lost before it is executed, its answer is lost, the answer
// comes after the time limit, the process ends. A minute is the lifetime of codes and tokens, and half that of a
// revocation.
import './clock.ts'
import t from 'tap'
import { type Store } from '../../lib/index.ts'
import { memoryStore } from '../../lib/stores/memory.ts'
import { authorization, madeUp, play, redemption, redemptionOf, type Scene, user } from './scenes.ts'
import { steppedMemory } from './stepped-memory.ts'
import { steppedRedis } from './stepped-redis.ts'
import { type SteppedStore } from './world.ts'

const ALIVE = 'a token is alive although a replay was answered'

const LOST_MARK = [
  'the process of stranger ends',
  'stranger: take token answer is lost',
  'stranger: take token takes too long',
  'stranger: revoke token is lost',
  'stranger: revoke token takes too long'
].map((mishap) => `${ALIVE}, because ${mishap}`)

/**
 * What can still go wrong on Redis. GETDEL of a made-up token removes the mark of a revocation, and the SET that puts
 * it back is not executed; a token that is stored afterwards is not revoked. Each way to lose the SET is a fault of its
 * own.
 */
interface Exception { faults: string[], schedule: string[] }

const lostMark: Exception = {
  faults: LOST_MARK,
  schedule: [
    'redemption begins',
    'redemption: take code is executed',
    'redemption: take code is answered',
    'replay begins',
    'replay: take code is executed',
    'replay: take code is answered',
    'replay: revoke token is executed',
    'replay: revoke token is answered',
    'stranger begins',
    'stranger: take token is executed',
    'redemption: put token is executed',
    'redemption: put token is answered',
    'stranger: take token answer is lost'
  ]
}

type MakeRole = ReturnType<typeof redemption>

const sceneOf = (name: string, faults: number, minutes: number, ...roles: MakeRole[]): Scene => ({
  name, faults, minutes, roles: (known) => roles.map((role) => role(known))
})

const first = redemption('redemption')
const second = redemption('replay')
const stranger = madeUp('stranger')

const used = user('user', 'redemption')

const scenes: Array<Scene & { exception?: Exception }> = [
  {
    ...sceneOf('an authorization, its redemption and a replay', 1, 0,
      authorization('authorization'),
      redemptionOf('redemption', 'authorization'),
      redemptionOf('replay', 'authorization')),
    issues: true
  },
  sceneOf('a redemption and a replay, and the record', 1, 1, first, second, used),
  sceneOf('a redemption and a replay, with two faults', 2, 0, first, second),
  sceneOf('a redemption and a replay, while a revocation ends', 1, 2, first, second),
  sceneOf('a token used twice', 2, 1, first, used, user('user again', 'redemption')),
  { ...sceneOf('a redemption, a replay and a made-up token', 1, 0, first, second, stranger), exception: lostMark },
  sceneOf('three redemptions', 0, 0, first, second, redemption('third'))
]

await t.test('an order that is not played leads where the played one does', async (t) => {
  const scenes = [
    { scene: sceneOf('', 1, 0, first, second), store: steppedRedis },
    { scene: sceneOf('', 0, 1, first, second, used), store: steppedMemory }
  ]
  for (const { scene, store } of scenes) {
    const some = await play(scene, store())
    const all = await play(scene, store(), true)
    t.strictSame([some.schedules, some.violations], [all.schedules, all.violations])
  }
})

let schedules = 0n
for (const { exception, ...scene } of scenes) {
  await t.test(`${scene.name}, on Redis`, async (t) => {
    const result = await play(scene, steppedRedis())
    schedules += result.schedules
    t.comment(`${result.schedules} schedules through ${result.states} states`)
    t.strictSame(result.violations.map(({ fault }) => fault).sort(), [...exception?.faults ?? []].sort())
    t.strictSame(result.violations[0]?.schedule, exception?.schedule)
  })
  await t.test(`${scene.name}, in one process`, async (t) => {
    const result = await play({ ...scene, faults: 0 }, steppedMemory())
    schedules += result.schedules
    t.comment(`${result.schedules} schedules through ${result.states} states`)
    t.strictSame(result.violations, [])
  })
}

/** The in-process store with a `take` that leaves the value. */
function keeping (limit: number): Store {
  const store = memoryStore(limit)
  async function take (key: string): Promise<string | null> {
    const value = await store.take(key)
    if (value !== null) await store.put(key, value, 60)
    return value
  }
  return { ...store, take }
}

/** The in-process store with a `revoke` that a later `put` does not mind. */
const forgetful = (limit: number): Store => ({ ...memoryStore(limit), revoke: async () => true })

const twoRedemptions = sceneOf('', 0, 0, first, second)
const twoUses = sceneOf('', 0, 0, first, used, user('user again', 'redemption'))
const YIELDED_TWICE = 'a token yielded the record twice'

const mistakes: Array<{ mistake: string, store: SteppedStore, scene: Scene, fault: string }> = [
  ...([
    ['SET ignores NX', twoRedemptions, ALIVE],
    ['GETDEL keeps the value', twoRedemptions, ALIVE],
    ['GETDEL keeps the value', twoUses, YIELDED_TWICE],
    ['a revocation needs a token', twoRedemptions, ALIVE],
    ['a mark is not put back', sceneOf('', 0, 0, first, second, stranger), ALIVE]
  ] as const).map(([mistake, scene, fault]) => ({ mistake, store: steppedRedis(mistake), scene, fault })),
  { mistake: 'take keeps the value', store: steppedMemory(keeping), scene: twoUses, fault: YIELDED_TWICE },
  { mistake: 'revoke does nothing', store: steppedMemory(forgetful), scene: twoRedemptions, fault: ALIVE }
]

await t.test('each mistake in what it rests on is found', async (t) => {
  for (const { mistake, store, scene, fault } of mistakes) {
    const { violations } = await play(scene, store)
    t.ok(violations.some((violation) => violation.fault === fault), `${mistake}: ${fault}`, { violations })
  }
})

t.comment(`${schedules} schedules in all`)
