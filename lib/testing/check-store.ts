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

/** Waits until a lifetime of one second is over. */
const expiry: Step = () => wait(1400)

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

const takesRace: Step = (store, keys) => race('value', () => store.take(keys('a')))

const putsRace: Step = async (store, keys) => {
  const winner = await race(true, (racer) => store.put(keys('a'), `racer-${racer}`, LIFETIME))
  await take('a', `racer-${winner}`)(store, keys)
}

const takesRaceRevokes: Step = (store, keys) => race('value', (racer) =>
  racer % 2 === 0 ? store.revoke(keys('a'), LIFETIME) : store.take(keys('a')))

const putsRaceRevoke: Step = (store, keys) => atOnce((racer) =>
  racer === RACERS / 2
    ? store.revoke(keys('a'), LIFETIME)
    : store.put(keys('a'), 'value', LIFETIME))

/** Each promise of the interface, and its test: one step after the other. */
const PROMISES: Array<[sentence: string, ...steps: Step[]]> = [
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
  [`of ${RACERS} concurrent takes exactly one gets the value`, put('a', true), takesRace],
  [`of ${RACERS} concurrent puts exactly one returns true, and its value is stored`, putsRace],
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
    `of ${RACERS} concurrent takes and revokes exactly one gets the value`,
    put('a', true),
    takesRaceRevokes
  ],
  [
    `of ${RACERS} puts that race with a revoke none leaves a value behind`,
    putsRaceRevoke,
    take('a', null)
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

/**
 * Tests every promise of the {@link Store} interface on a store of your own: put only while the key
 * is free, take once in a race of 200, revoke before and after put, and real expiry.
 *
 * It stores what the plugin stores: keys of 20 base64url characters (`A-Z a-z 0-9 - _`, case
 * counts), values of base64url text. Takes about two seconds. What it leaves in the store expires
 * within half a minute.
 *
 * @throws Error that names every broken promise, or says why the store cannot be used
 */
export async function checkStore (store: Store): Promise<void> {
  await connect(store)
  const complaints = await Promise.all(PROMISES.map(([sentence, ...steps]) =>
    complaintsOf(sentence, steps, store)))
  const broken = complaints.flat()
  if (broken.length === 0) return
  throw new Error(
    `The store breaks ${broken.length} of ${PROMISES.length} promises:${broken.join('')}`
  )
}

/**
 * Takes the steps one after the other. Returns what the first wrong one got. A test with an expiry
 * is repeated: on a busy machine a value expires before the next step.
 */
async function complaintsOf (
  sentence: string, steps: Step[], store: Store, tries = 3
): Promise<string[]> {
  const prefix = newKey().slice(1)
  try {
    for (const step of steps) await step(store, (letter) => prefix + letter)
    return []
  } catch (error) {
    if (tries > 1 && steps.includes(expiry)) return complaintsOf(sentence, steps, store, tries - 1)
    const got = error instanceof Broken ? error.message : `it threw ${String(error)}`
    return [`\n- ${sentence}: ${got}`]
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
