import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Store } from '../stores/store.ts'

const RACERS = 200
const LIFETIME = 30
/** Milliseconds that the first calls may take. */
const CONNECT_TIMEOUT = 5000

/** What is stored is base64url text: each of its 64 characters, in both cases and at both ends, and a long one. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_'
const LONG = ALPHABET.repeat(512)

/** A promise of the Store interface that the store breaks. */
class Broken extends Error {}

function expect (call: string, got: unknown, expected: unknown): void {
  if (got !== expected) throw new Broken(`${call} gave ${shown(got)} and not ${shown(expected)}`)
}

/** Long values are cut: only their kind and length matter to a reader. */
function shown (value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length <= 60 ? text : `a text of ${text.length - 2} characters`
}

/** The store under test: each call says what it expects. */
class Trial {
  readonly store: Store

  constructor (store: Store) {
    this.store = store
  }

  async put (key: string, expected: boolean, value = 'value', lifetime = LIFETIME): Promise<void> {
    expect('put', await this.store.put(key, value, lifetime), expected)
  }

  async take (key: string, expected: string | null): Promise<void> {
    expect('take', await this.store.take(key), expected)
  }

  async revoke (key: string, expected: boolean, lifetime = LIFETIME): Promise<void> {
    expect('revoke', await this.store.revoke(key, lifetime), expected)
  }
}

const race = <Value>(call: (racer: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: RACERS }, (_none, racer) => call(racer)))

/** What fails on a machine that was busy for five seconds shows nothing: it is tried three times at most. */
async function withoutDelay (test: () => Promise<void>, tries = 3): Promise<void> {
  const started = performance.now()
  await test().catch(async (error: unknown) => {
    if (tries === 1 || performance.now() - started < 5000) throw error
    await withoutDelay(test, tries - 1)
  })
}

/** Each promise of the interface, and its test with keys of its own. */
const PROMISES: Record<string, (trial: Trial) => Promise<void>> = {
  'take gives null for a key that was never put': (trial) => trial.take(newKey(), null),

  async [`put stores base64url text of up to ${LONG.length} characters, and take returns it unchanged`] (trial) {
    const [short, long] = [newKey(), newKey()]
    await trial.put(short, true, ALPHABET)
    await trial.take(short, ALPHABET)
    await trial.put(long, true, LONG)
    await trial.take(long, LONG)
  },

  async 'keys are distinct, also where they differ in case only' (trial) {
    const start = newKey().slice(1)
    await trial.put(`${start}a`, true, 'small')
    await trial.put(`${start}A`, true, 'large')
    await trial.take(`${start}a`, 'small')
    await trial.take(`${start}A`, 'large')
  },

  async 'put gives false and changes nothing while the key is held' (trial) {
    const [held, brief] = [newKey(), newKey()]
    await trial.put(held, true, 'first')
    await trial.put(held, false, 'second')
    await trial.take(held, 'first')
    await trial.put(brief, true, 'first', 1)
    await trial.put(brief, false, 'first')
    await wait(1400)
    await trial.take(brief, null)
  },

  async 'a value can be taken once only' (trial) {
    const key = newKey()
    await trial.put(key, true)
    await trial.take(key, 'value')
    await trial.take(key, null)
  },

  async [`of ${RACERS} concurrent takes exactly one gets the value`] ({ store }) {
    const key = newKey()
    await store.put(key, 'value', LIFETIME)
    const taken = (await race(() => store.take(key))).filter((value) => value !== null)
    expect('the number of values', taken.length, 1)
    expect('take', taken[0], 'value')
  },

  async [`of ${RACERS} concurrent puts exactly one gives true, and its value is stored`] (trial) {
    const key = newKey()
    const stored = await race((racer) => trial.store.put(key, `racer-${racer}`, LIFETIME))
    const winners = stored.flatMap((won, racer) => won ? [racer] : [])
    expect('the number of winners', winners.length, 1)
    await trial.take(key, `racer-${winners[0]}`)
  },

  async 'revoke removes what the key holds, and keeps it from being put' (trial) {
    const key = newKey()
    await trial.put(key, true)
    await trial.revoke(key, true)
    await trial.take(key, null)
    await trial.put(key, false)
    await trial.take(key, null)
  },

  async 'revoke before put keeps the key from being put, however often it is taken' (trial) {
    const key = newKey()
    await trial.revoke(key, false)
    await trial.put(key, false)
    for (let times = 0; times < 3; times++) {
      await trial.take(key, null)
      await trial.put(key, false)
    }
    await trial.take(key, null)
  },

  async 'revoke gives true when the key held a value, and false when it was taken, revoked or expired' (trial) {
    const [revoked, taken, expired] = [newKey(), newKey(), newKey()]
    await trial.put(expired, true, 'value', 1)
    await trial.put(revoked, true)
    await trial.revoke(revoked, true)
    await trial.revoke(revoked, false)
    await trial.put(taken, true)
    await trial.take(taken, 'value')
    await trial.revoke(taken, false)
    await wait(1400)
    await trial.revoke(expired, false)
  },

  async [`of ${RACERS} takes and revokes at once exactly one finds the value`] ({ store }) {
    const key = newKey()
    await store.put(key, 'value', LIFETIME)
    const found = await race<unknown>((racer) => racer % 2 === 0 ? store.revoke(key, LIFETIME) : store.take(key))
    expect('the number of finds', found.filter((value) => value === true || value === 'value').length, 1)
  },

  async [`of ${RACERS} puts that race with a revoke none leaves a value behind`] (trial) {
    const key = newKey()
    await race<unknown>((racer) => racer === RACERS / 2
      ? trial.store.revoke(key, LIFETIME)
      : trial.store.put(key, 'value', LIFETIME))
    await trial.take(key, null)
  },

  async [`of ${RACERS} puts and takes of a revoked key at once none stores a value`] ({ store }) {
    const key = newKey()
    await store.revoke(key, LIFETIME)
    const stored = await race<unknown>((racer) => racer % 2 === 0
      ? store.take(key)
      : store.put(key, 'value', LIFETIME))
    expect('the number of puts', stored.filter((value) => value === true).length, 0)
  },

  'a value can be taken until its lifetime has passed, and not after': (trial) => withoutDelay(async () => {
    const [longer, shorter] = [newKey(), newKey()]
    await trial.put(longer, true, 'value', 5)
    await trial.put(shorter, true, 'value', 1)
    await wait(1400)
    await trial.take(longer, 'value')
    await trial.take(shorter, null)
  }),

  async 'a key whose value expired can be put again' (trial) {
    const key = newKey()
    await trial.put(key, true, 'old', 1)
    await wait(1400)
    await trial.put(key, true, 'new')
    await trial.take(key, 'new')
  },

  async 'a revocation lasts for its lifetime, and ends with it' (trial) {
    const [longer, shorter] = [newKey(), newKey()]
    await trial.revoke(longer, false)
    await trial.revoke(shorter, false, 1)
    await wait(1400)
    await trial.put(longer, false)
    await trial.put(shorter, true)
    await trial.take(shorter, 'value')
  }
}

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
  await connect(store)
  const trial = new Trial(store)
  const promises = Object.entries(PROMISES)
  const failures = await Promise.all(promises.map(async ([sentence, test]) => {
    try {
      await test(trial)
      return []
    } catch (error) {
      return [`- ${sentence}: ${error instanceof Broken ? error.message : `it threw ${String(error)}`}`]
    }
  }))
  if (failures.flat().length === 0) return
  throw new Error(`The store breaks ${failures.flat().length} of ${promises.length} promises:\n` +
    failures.flat().join('\n'))
}

/** Where every operation fails, nothing can be said of the promises. */
async function connect (store: Store): Promise<void> {
  const calls = [
    async () => store.put(newKey(), 'value', 1),
    async () => store.take(newKey()),
    async () => store.revoke(newKey(), 1)
  ]
  const done = new AbortController()
  const late = wait(CONNECT_TIMEOUT, null, { signal: done.signal }).then(
    () => { throw new Error(`no response within ${CONNECT_TIMEOUT / 1000} s`) }, () => {})
  const outcomes = await Promise.allSettled(calls.map((call) => Promise.race<unknown>([late, call()])))
  done.abort()
  const reasons = outcomes.flatMap((outcome) => outcome.status === 'rejected' ? [String(outcome.reason)] : [])
  if (reasons.length === calls.length) throw new Error(`There is no connection to the store: ${reasons[0]}`)
}

/** A key as long as those of codes and tokens. */
function newKey (): string {
  return randomBytes(15).toString('base64url')
}
