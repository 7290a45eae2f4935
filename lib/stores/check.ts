import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Store } from './store.ts'
import { within } from '../time-limit.ts'

const RACERS = 200
const LIFETIME = 30
/** Milliseconds that the first calls may take. */
const CONNECT_TIMEOUT = 5000

/** A promise of the Store interface, and how it is tested. */
interface StorePromise {
  sentence: string
  /** What the store did instead, or null. Every promise is tested with a key of its own, made by `key`. */
  broken (store: Store, key: () => string): Promise<string | null>
}

const differs = (call: string, got: unknown, expected: unknown): string | null =>
  got === expected ? null : `${call} gave ${shown(got)} and not ${shown(expected)}`

/** Long values are cut: only their kind and length matter to a reader. */
function shown (value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length <= 60 ? text : `a text of ${text.length - 2} characters`
}

/** Runs the steps one after the other. The first failure, or null. */
async function inOrder (...steps: Array<() => Promise<string | null>>): Promise<string | null> {
  for (const step of steps) {
    const failure = await step()
    if (failure !== null) return failure
  }
  return null
}

/** What fails on a machine that was busy for so many milliseconds shows nothing: it is tried three times at most. */
async function withoutDelay (limit: number, test: () => Promise<string | null>): Promise<string | null> {
  let failure: string | null
  let isLate: boolean
  let tries = 0
  do {
    const started = performance.now()
    failure = await test()
    isLate = performance.now() - started >= limit
  } while (failure !== null && isLate && ++tries < 3)
  return failure
}

const puts = (store: Store, key: string, expected: boolean, value = 'value', lifetime = LIFETIME) => async () =>
  differs('put', await store.put(key, value, lifetime), expected)

const takes = (store: Store, key: string, expected: string | null) => async () =>
  differs('take', await store.take(key), expected)

const revokes = (store: Store, key: string, expected: boolean, lifetime = LIFETIME) => async () =>
  differs('revoke', await store.revoke(key, lifetime), expected)

const waits = (milliseconds: number) => () => wait(milliseconds, null)

const race = async <Result>(run: (racer: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: RACERS }, (_none, racer) => run(racer)))

/** What is stored is base64url text: each of its 64 characters, in both cases and at both ends, and a long one. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_'
const LONG = ALPHABET.repeat(512)

const PROMISES: StorePromise[] = [
  {
    sentence: 'take gives null for a key that was never put',
    broken: (store, key) => takes(store, key(), null)()
  },
  {
    sentence: `put stores base64url text of up to ${LONG.length} characters, and take returns it unchanged`,
    async broken (store, key) {
      const [short, long] = [key(), key()]
      return await inOrder(
        puts(store, short, true, ALPHABET), takes(store, short, ALPHABET),
        puts(store, long, true, LONG), takes(store, long, LONG))
    }
  },
  {
    sentence: 'keys are distinct, also where they differ in case only',
    async broken (store, key) {
      const [small, large] = sameButForCase(key)
      return await inOrder(
        puts(store, small, true, 'small'), puts(store, large, true, 'large'),
        takes(store, small, 'small'), takes(store, large, 'large'))
    }
  },
  {
    sentence: 'put gives false and changes nothing while the key is held',
    async broken (store, key) {
      const held = key()
      return await inOrder(puts(store, held, true, 'first'), puts(store, held, false, 'second'),
        takes(store, held, 'first'))
    }
  },
  {
    sentence: 'a value can be taken once only',
    async broken (store, key) {
      const once = key()
      return await inOrder(puts(store, once, true), takes(store, once, 'value'), takes(store, once, null))
    }
  },
  {
    sentence: `of ${RACERS} concurrent takes exactly one gets the value`,
    async broken (store, key) {
      const raced = key()
      await store.put(raced, 'value', LIFETIME)
      const taken = (await race(() => store.take(raced))).filter((value) => value !== null)
      return differs('the number of values', taken.length, 1) ?? differs('take', taken[0], 'value')
    }
  },
  {
    sentence: `of ${RACERS} concurrent puts exactly one gives true, and its value is stored`,
    async broken (store, key) {
      const raced = key()
      const stored = await race((racer) => store.put(raced, `racer-${racer}`, LIFETIME))
      const winners = stored.flatMap((won, racer) => won ? [racer] : [])
      return differs('the number of winners', winners.length, 1) ??
        differs('take', await store.take(raced), `racer-${winners[0]}`)
    }
  },
  {
    sentence: 'revoke removes what the key holds, and keeps it from being put',
    async broken (store, key) {
      const revoked = key()
      return await inOrder(puts(store, revoked, true), revokes(store, revoked, true), takes(store, revoked, null),
        puts(store, revoked, false), takes(store, revoked, null))
    }
  },
  {
    sentence: 'revoke before put keeps the key from being put, also after a take',
    async broken (store, key) {
      const revoked = key()
      return await inOrder(revokes(store, revoked, false), puts(store, revoked, false), takes(store, revoked, null),
        puts(store, revoked, false), takes(store, revoked, null))
    }
  },
  {
    sentence: 'revoke gives true when the key held a value, and false when it was taken, revoked or expired',
    async broken (store, key) {
      const [revoked, taken, expired] = [key(), key(), key()]
      return await inOrder(
        puts(store, expired, true, 'value', 1),
        puts(store, revoked, true), revokes(store, revoked, true), revokes(store, revoked, false),
        puts(store, taken, true), takes(store, taken, 'value'), revokes(store, taken, false),
        waits(1400), revokes(store, expired, false))
    }
  },
  {
    sentence: `of ${RACERS} takes and revokes at once exactly one finds the value`,
    async broken (store, key) {
      const raced = key()
      await store.put(raced, 'value', LIFETIME)
      const found = await race<unknown>((racer) => racer % 2 === 0 ? store.revoke(raced, LIFETIME) : store.take(raced))
      return differs('the number of finds', found.filter((value) => value === true || value === 'value').length, 1)
    }
  },
  {
    sentence: `of ${RACERS} puts that race with a revoke none leaves a value behind`,
    async broken (store, key) {
      const raced = key()
      await race<unknown>((racer) =>
        racer === RACERS / 2 ? store.revoke(raced, LIFETIME) : store.put(raced, 'value', LIFETIME))
      return differs('take', await store.take(raced), null)
    }
  },
  {
    sentence: 'a value can be taken until its lifetime has passed, and not after',
    broken: (store, key) => withoutDelay(5000, () => {
      const [longer, shorter] = [key(), key()]
      return inOrder(puts(store, longer, true, 'value', 5), puts(store, shorter, true, 'value', 1),
        waits(1400), takes(store, longer, 'value'), takes(store, shorter, null))
    })
  },
  {
    sentence: 'a key whose value expired can be put again',
    async broken (store, key) {
      const again = key()
      return await inOrder(puts(store, again, true, 'old', 1), waits(1400), puts(store, again, true, 'new'),
        takes(store, again, 'new'))
    }
  },
  {
    sentence: 'a revocation lasts for its lifetime, and ends with it',
    async broken (store, key) {
      const [longer, shorter] = [key(), key()]
      return await inOrder(revokes(store, longer, false), revokes(store, shorter, false, 1), waits(1400),
        puts(store, longer, false), puts(store, shorter, true), takes(store, shorter, 'value'))
    }
  }
]

/**
 * Tests every promise of the {@link Store} interface on a store of your own: put only while the key is free, take once
 * in a race of 200, revoke before and after put, and real expiry.
 *
 * It stores what the plugin stores: keys of 20 base64url characters (`A-Z a-z 0-9 - _`, case counts), values of
 * base64url text. Takes about two seconds. What it leaves in the store expires within half a minute.
 *
 * @throws Error that names every broken promise, or says that there is no connection to the store
 */
export async function checkStore (store: Store): Promise<void> {
  await connected(store)
  const failures = (await Promise.all(PROMISES.map(async ({ sentence, broken }) => {
    const failure = await broken(store, randomKey).catch((error) => `it threw ${String(error)}`)
    return failure === null ? [] : [`- ${sentence}: ${failure}`]
  }))).flat()
  if (failures.length === 0) return
  throw new Error(`The store breaks ${failures.length} of ${PROMISES.length} promises:\n${failures.join('\n')}`)
}

/** Where every operation fails, nothing can be said of the promises. */
async function connected (store: Store): Promise<void> {
  const deadline = performance.now() + CONNECT_TIMEOUT
  const calls = [
    () => store.put(randomKey(), 'value', 1),
    () => store.take(randomKey()),
    () => store.revoke(randomKey(), 1)
  ]
  const late = (): Error => new Error('The store did not respond in time')
  const outcomes = await Promise.allSettled(calls.map((call) => within<unknown>(deadline, call, late)))
  const reasons = outcomes.flatMap((outcome) => outcome.status === 'rejected' ? [String(outcome.reason)] : [])
  if (reasons.length === calls.length) throw new Error(`There is no connection to the store: ${reasons[0]}`)
}

/** A key as long as those of codes and tokens. */
function randomKey (): string {
  return randomBytes(15).toString('base64url')
}

function sameButForCase (key: () => string): [string, string] {
  const start = key().slice(0, -1)
  return [`${start}a`, `${start}A`]
}
