import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Store } from './store.ts'

const RACERS = 200
const LIFETIME = 30

/** A promise of the Store interface and how it is tried; the trial yields what went wrong, or null. */
interface StorePromise {
  sentence: string
  broken: (store: Store, key: string) => Promise<string | null>
}

const unlike = (what: string, got: unknown, wanted: unknown): string | null =>
  got === wanted ? null : `${what} gave ${JSON.stringify(got)} and not ${JSON.stringify(wanted)}`

/** The first thing that is not as it should be. */
async function inOrder (...checks: Array<() => Promise<string | null>>): Promise<string | null> {
  for (const check of checks) {
    const wrong = await check()
    if (wrong !== null) return wrong
  }
  return null
}

const puts = (store: Store, key: string, wanted: boolean, value = 'value', lifetime = LIFETIME) => async () =>
  unlike('put', await store.put(key, value, lifetime), wanted)

const takes = (store: Store, key: string, wanted: string | null) => async () =>
  unlike('take', await store.take(key), wanted)

const revokes = (store: Store, key: string, lifetime = LIFETIME) => async () => {
  await store.revoke(key, lifetime)
  return null
}

const passes = (milliseconds: number) => () => wait(milliseconds, null)

const race = async <Result>(run: (racer: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: RACERS }, (_none, racer) => run(racer)))

/** Long, and with every character that a JSON or line based store could trip over. */
const AWKWARD = `{"a":"b"}\n\r\t\0"'\\ ü 😀 ${'x'.repeat(8192)}`

const PROMISES: StorePromise[] = [
  {
    sentence: 'take gives null for a key that was never put',
    broken: (store, key) => inOrder(takes(store, key, null))
  },
  {
    sentence: 'put stores a value and take returns it unchanged',
    broken: (store, key) => inOrder(puts(store, key, true, AWKWARD), takes(store, key, AWKWARD))
  },
  {
    sentence: 'keys are apart from each other, also where they differ in case only',
    broken: (store, key) => inOrder(puts(store, `${key}a`, true, 'small'), puts(store, `${key}A`, true, 'large'), takes(store, `${key}a`, 'small'), takes(store, `${key}A`, 'large'))
  },
  {
    sentence: 'put gives false and changes nothing while the key is held',
    broken: (store, key) => inOrder(puts(store, key, true, 'first'), puts(store, key, false, 'second'), takes(store, key, 'first'))
  },
  {
    sentence: 'a value can be taken once only',
    broken: (store, key) => inOrder(puts(store, key, true), takes(store, key, 'value'), takes(store, key, null))
  },
  {
    sentence: `of ${RACERS} concurrent takes exactly one gets the value`,
    broken: async (store, key) => {
      await store.put(key, 'value', LIFETIME)
      const taken = (await race(() => store.take(key))).filter((value) => value !== null)
      return unlike('the race', taken.length, 1)
    }
  },
  {
    sentence: `of ${RACERS} concurrent puts exactly one holds the key, and its value is the one taken`,
    broken: async (store, key) => {
      const held = await race((racer) => store.put(key, String(racer), LIFETIME))
      const winners = held.flatMap((won, racer) => won ? [racer] : [])
      return unlike('the race', winners.length, 1) ?? unlike('take', await store.take(key), String(winners[0]))
    }
  },
  {
    sentence: 'revoke kills what the key holds, and keeps it from being put',
    broken: (store, key) => inOrder(puts(store, key, true), revokes(store, key), takes(store, key, null), puts(store, key, false), takes(store, key, null))
  },
  {
    sentence: 'revoke before put keeps the key from being put, also after a take',
    broken: (store, key) => inOrder(revokes(store, key), puts(store, key, false), takes(store, key, null), puts(store, key, false), takes(store, key, null))
  },
  {
    sentence: `of ${RACERS} puts that race with a revoke none leaves a value behind`,
    broken: async (store, key) => {
      await race<unknown>((racer) => racer === RACERS / 2 ? store.revoke(key, LIFETIME) : store.put(key, 'value', LIFETIME))
      return unlike('take', await store.take(key), null)
    }
  },
  {
    sentence: 'a value is there before its lifetime has passed, and gone after',
    broken: (store, key) => inOrder(puts(store, `${key}1`, true, 'value', 2), puts(store, `${key}2`, true, 'value', 1), passes(700), takes(store, `${key}1`, 'value'), passes(700), takes(store, `${key}2`, null))
  },
  {
    sentence: 'a key whose value expired can be put again',
    broken: (store, key) => inOrder(puts(store, key, true, 'old', 1), passes(1400), puts(store, key, true, 'new'), takes(store, key, 'new'))
  },
  {
    sentence: 'a revocation holds for its lifetime, and ends with it',
    broken: (store, key) => inOrder(revokes(store, key, 1), passes(500), puts(store, key, false), passes(900), puts(store, key, true), takes(store, key, 'value'))
  }
]

/**
 * Tries every promise of the {@link Store} interface on a store of one's own: put only while the key is free, take once
 * in a race of 200, revoke before and after put, and real expiry. Takes about two seconds and leaves nothing behind that
 * does not expire by itself within half a minute.
 *
 * @throws Error whose message names every promise that does not hold
 */
export async function checkStore (store: Store): Promise<void> {
  const run = randomBytes(8).toString('hex')
  const broken = await Promise.all(PROMISES.map(async ({ sentence, broken }, at) => {
    const wrong = await attempt(() => broken(store, `check-store:${run}:${at}:`))
    return wrong === null ? [] : [`- ${sentence}: ${wrong}`]
  }))
  if (broken.flat().length > 0) throw new Error(`The store breaks ${broken.flat().length} of ${PROMISES.length} promises:\n${broken.flat().join('\n')}`)
}

async function attempt (run: () => Promise<string | null>): Promise<string | null> {
  try {
    return await run()
  } catch (error) {
    return `it threw ${String(error)}`
  }
}
