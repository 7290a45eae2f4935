import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Store } from './store.ts'

/** Calls at once in one race. */
const RACERS = 100
/**
 * Races of each kind. A pool opens its connections one after another, so that the first races may run on one of them,
 * where nothing can go wrong; and a store may be atomic most of the time.
 */
const RACES = 30
const LIFETIME = 30
/** Milliseconds that the first calls may take. */
const CONNECT_TIMEOUT = 5000

/**
 * The plugin stores base64url text: a value with all 64 characters, and one as long as the longest
 * record with three secrets.
 */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_'
const LONG = ALPHABET.repeat(2048)

/** Milliseconds that the calls of a promise may take, and no lifetime has passed before its time. */
const PUNCTUAL = 500
/** Times that a promise about lifetimes is tried on a machine that is too busy to keep the times. */
const MOST_TRIES = 3

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

/** The keys of one try, by a letter. */
type Keys = (letter: string) => string
type Step = (store: Store, keys: Keys) => Promise<unknown>

/** A call, and what it must return. */
const put = (key: string, expected: boolean, value = 'value', lifetime = LIFETIME): Step =>
  async (store, keys) =>
    expect('put returned', await store.put(keys(key), value, lifetime), expected)

const take = (key: string, expected: string | null): Step => async (store, keys) =>
  expect('take returned', await store.take(keys(key)), expected)

const revoke = (key: string, expected: string | null, lifetime = LIFETIME): Step =>
  async (store, keys) =>
    expect('revoke returned', await store.revoke(keys(key), lifetime), expected)

/** Milliseconds after which a lifetime of one second is over. */
const EXPIRY = 1400
/** Waits until a lifetime of one second is over. */
const expiry: Step = () => wait(EXPIRY)

/** Makes RACERS calls at once. Returns their results. */
const atOnce = (call: (racer: number) => Promise<unknown>): Promise<unknown[]> =>
  Promise.all(Array.from({ length: RACERS }, (_none, racer) => call(racer)))

/** Makes RACERS calls at once, of which exactly one must win. Returns its number. */
async function race (winning: unknown, call: (racer: number) => Promise<unknown>): Promise<number> {
  const results = await atOnce(call)
  const winners = results.filter((result) => result === winning)
  expect('the number of winners was', winners.length, 1)
  return results.indexOf(winning)
}

/** Runs the steps RACES times, one after the other, each time with a key of its own. */
const races = (stepsOf: (letter: string) => Step[]): Step => async (store, keys) => {
  for (const letter of ALPHABET.slice(0, RACES)) {
    for (const step of stepsOf(letter)) await step(store, keys)
  }
}

const takesRace = races((letter) => [
  put(letter, true),
  (store, keys) => race('value', () => store.take(keys(letter))),
  take(letter, null)
])

const putsRace = races((letter) => [
  async (store, keys) => {
    const winner = await race(true, (racer) => store.put(keys(letter), `racer-${racer}`, LIFETIME))
    await take(letter, `racer-${winner}`)(store, keys)
  }
])

const takesRaceRevokes = races((letter) => [
  put(letter, true),
  (store, keys) => race('value', (racer) =>
    racer % 2 === 0 ? store.revoke(keys(letter), LIFETIME) : store.take(keys(letter))),
  take(letter, null)
])

const putsRaceRevoke = races((letter) => [
  (store, keys) => atOnce((racer) =>
    racer === RACERS / 2
      ? store.revoke(keys(letter), LIFETIME)
      : store.put(keys(letter), 'value', LIFETIME)),
  take(letter, null)
])

/** A promise of the interface, and its test: one step after the other. */
type Promised = [sentence: string, ...steps: Step[]]

/** What one caller sees. */
const PROMISES: Promised[] = [
  ['take returns null for a key that was never put', take('a', null)],
  [
    `put stores base64url text of up to ${LONG.length} characters, and take returns it unchanged`,
    put('a', true, ALPHABET),
    take('a', ALPHABET),
    put('b', true, LONG),
    take('b', LONG)
  ],
  [
    'keys are distinct, also where they differ in case only',
    put('a', true, 'small'),
    put('A', true, 'large'),
    take('a', 'small'),
    take('A', 'large')
  ],
  [
    'put returns false and changes nothing while the key is held',
    put('a', true, 'first'),
    put('a', false, 'second'),
    take('a', 'first'),
    put('b', true, 'first', 1),
    put('b', false, 'first'),
    expiry,
    take('b', null)
  ],
  ['a value can be taken once only', put('a', true), take('a', 'value'), take('a', null)],
  [
    'revoke keeps the key from being put, and what it held from being taken',
    put('a', true),
    revoke('a', 'value'),
    put('a', false),
    take('a', null),
    put('b', true),
    revoke('b', 'value'),
    take('b', null)
  ],
  [
    'revoke before put keeps the key from being put',
    revoke('a', null),
    put('a', false),
    put('a', false),
    take('a', null)
  ],
  [
    'revoke returns what the key held, unchanged, and null when it was taken, revoked or expired',
    put('c', true, 'value', 1),
    put('a', true, LONG),
    revoke('a', LONG),
    revoke('a', null),
    put('b', true),
    take('b', 'value'),
    revoke('b', null),
    expiry,
    revoke('c', null)
  ],
  [
    'a value can be taken until its lifetime has passed, and not after',
    put('a', true, 'value', 5),
    put('b', true, 'value', 1),
    expiry,
    take('a', 'value'),
    take('b', null)
  ],
  [
    'a key whose value expired can be put again',
    put('a', true, 'old', 1),
    expiry,
    put('a', true, 'new'),
    take('a', 'new')
  ],
  [
    'a revocation lasts for its lifetime, and ends with it',
    revoke('a', null),
    revoke('b', null, 1),
    expiry,
    put('a', false),
    put('b', true),
    take('b', 'value')
  ]
]

/** What callers see who call at the same time. */
const RACING_PROMISES: Promised[] = [
  [`of ${RACERS} concurrent takes exactly one gets the value`, takesRace],
  [`of ${RACERS} concurrent puts exactly one returns true, and its value is stored`, putsRace],
  [`of ${RACERS} concurrent takes and revokes exactly one gets the value`, takesRaceRevokes],
  [`of ${RACERS} puts that race with a revoke none leaves a value behind`, putsRaceRevoke]
]

/**
 * Tests every promise of the {@link Store} interface on a store of your own: put only while the key
 * is free, take once, revoke before and after put, and real expiry. Each operation that can race is
 * tried in 30 races of 100 calls. A promise that is broken once is broken.
 *
 * It stores what the plugin stores: keys of 20 base64url characters (`A-Z a-z 0-9 - _`, case
 * counts), values of base64url text. It makes some 12,000 calls, in two to five seconds with a store
 * on the same machine. What it leaves in the store expires within half a minute.
 *
 * @param store - a store that holds nothing that matters
 * @returns when every promise is kept
 * @throws Error that names every broken promise with what was got, or says why the store cannot be
 * used
 *
 * @example
 * test('the store keeps its promises', () => checkStore(new MyStore(pool)))
 */
export async function checkStore (store: Store): Promise<void> {
  await connect(store)
  const complaints = await Promise.all(PROMISES.map((promised) => complaintOf(promised, store)))
  // One after another, and after the others: calls that wait in a queue of the store do not race.
  for (const promised of RACING_PROMISES) complaints.push(await complaintOf(promised, store))
  const broken = complaints.filter((complaint) => complaint !== null)
  if (broken.length === 0) return
  throw new Error(
    `The store breaks ${broken.length} of ${complaints.length} promises:${broken.join('')}`
  )
}

/**
 * Takes the steps of a promise one after the other.
 *
 * @returns what the first wrong step got; null where the promise is kept
 */
async function complaintOf ([sentence, ...steps]: Promised, store: Store, tries = 1): Promise<string | null> {
  const prefix = newKey().slice(1)
  const start = performance.now()
  let due = start + PUNCTUAL
  try {
    for (const step of steps) {
      if (step === expiry) due += EXPIRY
      await step(store, (letter) => prefix + letter)
    }
    return null
  } catch (error) {
    // On a busy machine a lifetime passes before the next step. That is no fault of the store.
    const isLate = steps.includes(expiry) && performance.now() > due
    if (isLate && tries < MOST_TRIES) return complaintOf([sentence, ...steps], store, tries + 1)
    const got = error instanceof Broken ? error.message : `it threw ${String(error)}`
    return `\n- ${sentence}: ${got}`
  }
}

/** Throws where the first put fails: then the promises cannot be tested. */
async function connect (store: Store): Promise<void> {
  const stop = new AbortController()
  const silence = async () => {
    await wait(CONNECT_TIMEOUT, undefined, { signal: stop.signal })
    throw new Error(`no response within ${CONNECT_TIMEOUT / 1000} s`)
  }
  try {
    await Promise.race([store.put(newKey(), 'value', 1), silence()])
  } catch (error) {
    throw new Error(`The store cannot be used: ${String(error)}`)
  } finally {
    stop.abort()
  }
}

/** A key as long as those of codes and tokens. */
const newKey = (): string => randomBytes(15).toString('base64url')
