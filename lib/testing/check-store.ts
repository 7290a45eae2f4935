import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Store } from '../stores/store.ts'

const RACERS = 200
const LIFETIME = 30
/** Milliseconds that the first calls may take. */
const CONNECT_TIMEOUT = 5000

/**
 * The plugin stores base64url text: a value with all 64 characters, and one as long as the longest
 * record with three secrets.
 */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_'
const LONG = ALPHABET.repeat(2048)

/** A promise of the Store interface that the store breaks. */
class Broken extends Error {}

function expect (call: string, got: unknown, expected: unknown): void {
  if (got !== expected) throw new Broken(`${call} ${shown(got)} instead of ${shown(expected)}`)
}

/** Long values are cut: only their kind and length matter to a reader. */
function shown (value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length <= 60 ? text : `a text of ${text.length - 2} characters`
}

type Test = (store: Store) => Promise<void>

/** A call, and what it must return. */
const put = (key: string, expected: boolean, value = 'value', lifetime = LIFETIME): Test =>
  async (store) => expect('put returned', await store.put(key, value, lifetime), expected)
const take = (key: string, expected: string | null): Test => async (store) =>
  expect('take returned', await store.take(key), expected)
const revoke = (key: string, expected: string | null, lifetime = LIFETIME): Test => async (store) =>
  expect('revoke returned', await store.revoke(key, lifetime), expected)
/** Waits until a lifetime of one second is over. */
const expiry: Test = async () => { await wait(1400) }

/** The calls, one after the other. */
const inOrder = (...calls: Test[]): Test => async (store) => {
  for (const call of calls) await call(store)
}

/** Makes RACERS calls at once. Returns their results. */
const atOnce = <Value>(call: (racer: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: RACERS }, (_none, racer) => call(racer)))

function expectOne (what: string, results: unknown[], wanted: unknown): void {
  expect(`the number of ${what} was`, results.filter((result) => result === wanted).length, 1)
}

const takesRace = (key: string): Test => async (store) => {
  await put(key, true)(store)
  expectOne('values', await atOnce(() => store.take(key)), 'value')
}

const putsRace = (key: string): Test => async (store) => {
  const results = await atOnce((racer) => store.put(key, `racer-${racer}`, LIFETIME))
  expectOne('winners', results, true)
  await take(key, `racer-${results.indexOf(true)}`)(store)
}

const takesRaceRevokes = (key: string): Test => async (store) => {
  await put(key, true)(store)
  const results = await atOnce((racer) =>
    racer % 2 === 0 ? store.revoke(key, LIFETIME) : store.take(key))
  expectOne('values', results, 'value')
}

const putsRaceRevoke = (key: string): Test => async (store) => {
  await atOnce<unknown>((racer) =>
    racer === RACERS / 2 ? store.revoke(key, LIFETIME) : store.put(key, 'value', LIFETIME))
  await take(key, null)(store)
}

/**
 * Repeats a test that failed after so many seconds or more: a value with that lifetime may have expired because the
 * machine was busy. Three tries at most.
 */
const withoutDelay = (seconds: number, test: () => Test, tries = 3): Test => async (store) => {
  const started = performance.now()
  await test()(store).catch(async (error: unknown) => {
    if (tries === 1 || performance.now() - started < seconds * 1000) throw error
    await withoutDelay(seconds, test, tries - 1)(store)
  })
}

/** Each promise of the interface, and its test with fresh keys. */
const PROMISES: Record<string, (key: string, other: string, third: string) => Test> = {
  'take returns null for a key that was never put': (key) => take(key, null),
  [`put stores base64url text of up to ${LONG.length} characters, ` +
  'and take returns it unchanged']: (key, other) =>
    inOrder(
      put(key, true, ALPHABET), take(key, ALPHABET), put(other, true, LONG), take(other, LONG)
    ),
  'keys are distinct, also where they differ in case only': (key) => {
    const [small, large] = [`${key.slice(1)}a`, `${key.slice(1)}A`]
    return inOrder(
      put(small, true, 'small'), put(large, true, 'large'),
      take(small, 'small'), take(large, 'large')
    )
  },
  'put returns false and changes nothing while the key is held': () => withoutDelay(1, () => {
    const [key, brief] = [newKey(), newKey()]
    return inOrder(
      put(key, true, 'first'), put(key, false, 'second'), take(key, 'first'),
      put(brief, true, 'first', 1), put(brief, false, 'first'), expiry, take(brief, null)
    )
  }),
  'a value can be taken once only': (key) =>
    inOrder(put(key, true), take(key, 'value'), take(key, null)),
  [`of ${RACERS} concurrent takes exactly one gets the value`]: takesRace,
  [`of ${RACERS} concurrent puts exactly one returns true, and its value is stored`]: putsRace,
  'revoke keeps the key from being put, and what it held from being taken': (key, other) => inOrder(
    put(key, true), revoke(key, 'value'), put(key, false), take(key, null),
    put(other, true), revoke(other, 'value'), take(other, null)),
  'revoke before put keeps the key from being put': (key) =>
    inOrder(revoke(key, null), put(key, false), put(key, false), take(key, null)),
  'revoke returns what the key held, unchanged, and null when it was taken, revoked or expired':
    (revoked, taken, expired) => inOrder(
      put(expired, true, 'value', 1),
      put(revoked, true, LONG), revoke(revoked, LONG), revoke(revoked, null),
      put(taken, true), take(taken, 'value'), revoke(taken, null),
      expiry, revoke(expired, null)),
  [`of ${RACERS} concurrent takes and revokes exactly one gets the value`]: takesRaceRevokes,
  [`of ${RACERS} puts that race with a revoke none leaves a value behind`]: putsRaceRevoke,
  'a value can be taken until its lifetime has passed, and not after': () => withoutDelay(5, () => {
    const [longer, shorter] = [newKey(), newKey()]
    return inOrder(put(longer, true, 'value', 5), put(shorter, true, 'value', 1), expiry,
      take(longer, 'value'), take(shorter, null))
  }),
  'a key whose value expired can be put again': (key) =>
    inOrder(put(key, true, 'old', 1), expiry, put(key, true, 'new'), take(key, 'new')),
  'a revocation lasts for its lifetime, and ends with it': (longer, shorter) => inOrder(
    revoke(longer, null), revoke(shorter, null, 1), expiry,
    put(longer, false), put(shorter, true), take(shorter, 'value'))
}

/**
 * Tests every promise of the {@link Store} interface on a store of your own: put only while the key
 * is free, take once in a race of 200, revoke before and after put, and real expiry.
 *
 * It stores what the plugin stores: keys of 20 base64url characters (`A-Z a-z 0-9 - _`, case
 * counts), values of base64url text. Takes about two seconds. What it leaves in the store expires
 * within half a minute.
 *
 * @throws Error that names every broken promise, or says that there is no connection to the store
 */
export async function checkStore (store: Store): Promise<void> {
  await connect(store)
  const promises = Object.entries(PROMISES)
  const outcomes = await Promise.all(promises.map(([sentence, test]) =>
    test(newKey(), newKey(), newKey())(store).then(() => '', (error: unknown) =>
      `\n- ${sentence}: ${error instanceof Broken ? error.message : `it threw ${String(error)}`}`)))
  const broken = outcomes.filter((outcome) => outcome !== '')
  if (broken.length === 0) return
  throw new Error(
    `The store breaks ${broken.length} of ${promises.length} promises:${broken.join('')}`
  )
}

/** Throws where every operation fails: then the promises cannot be tested. */
async function connect (store: Store): Promise<void> {
  const calls = [
    async () => store.put(newKey(), 'value', 1),
    async () => store.take(newKey()),
    async () => store.revoke(newKey(), 1)
  ]
  const stop = new AbortController()
  const silent = wait(CONNECT_TIMEOUT, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`no response within ${CONNECT_TIMEOUT / 1000} s`)
  })
  const outcomes =
    await Promise.allSettled(calls.map((call) => Promise.race<unknown>([silent, call()])))
  stop.abort()
  const reasons = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [String(outcome.reason)] : [])
  if (reasons.length === calls.length) {
    throw new Error(`There is no connection to the store: ${reasons[0]}`)
  }
}

/** A key as long as those of codes and tokens. */
function newKey (): string {
  return randomBytes(15).toString('base64url')
}
