// The author of a store learns from checkStore which promises the store breaks, and no others. By the clock of the
// tests: nothing is waited for. In real time: stores.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type * as checker from '../../lib/stores/check-store.ts'
import type { Store } from '../../lib/stores/store.ts'
import { clockOf } from '../clock.ts'
import { lib } from '../helpers/lib.ts'
import { prepared } from '../helpers/prepared.ts'

/** `setTimeout` of node:timers/promises by the clock of the tests. What was called off never ends. */
const wait = (milliseconds: number, value: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds, value)
    signal?.addEventListener('abort', () => clearTimeout(timer))
  })

const { checkStore } = await prepared(() =>
  t.mockImport<typeof checker>(lib('stores/check-store.ts'), { 'node:timers/promises': { setTimeout: wait } }))

interface Sound extends Store {
  /** What was set last, even where it has expired. */
  last (key: string): string | null | undefined
  /** What the key holds: a value, null for a mark, undefined for nothing. */
  held (key: string): string | null | undefined
  set (key: string, value: string | null, lifetime: number): void
  remove (key: string): void
}

/** A sound store. Its parts are replaced by broken ones. */
function soundStore (): Sound {
  const entries = new Map<string, { value: string | null, expires: number }>()
  const isLive = (key: string) => (entries.get(key)?.expires ?? 0) > performance.now()
  const last = (key: string) => entries.get(key)?.value
  const held = (key: string) => isLive(key) ? last(key) : undefined
  const remove = (key: string) => { entries.delete(key) }
  const set = (key: string, value: string | null, lifetime: number) => {
    entries.set(key, { value, expires: performance.now() + lifetime * 1000 })
  }
  return {
    last,
    held,
    set,
    remove,
    async put (key, value, lifetime) {
      const isFree = held(key) === undefined
      if (isFree) set(key, value, lifetime)
      return isFree
    },
    async take (key) {
      const value = held(key) ?? null
      if (value !== null) remove(key)
      return value
    },
    async revoke (key, lifetime) {
      const value = held(key) ?? null
      set(key, null, lifetime)
      return value
    }
  }
}

/** Operations that replace those of the sound store. */
type Change = (sound: Sound) => Partial<Store>
type Put = Parameters<Store['put']>

const storeWith = (change: Change): Store => {
  const sound = soundStore()
  return { ...sound, ...change(sound) }
}

/** It puts something else. */
const putChanged = (change: (...given: Put) => Put): Change =>
  ({ put }) => ({ put: (...given) => put(...change(...given)) })

/** It sets this value after a put, whatever the put returned; undefined: none. */
const setAfterPut = (valueOf: (held: string | null | undefined, value: string) => string | undefined): Change =>
  ({ put, held, set }) => ({
    async put (key, value, lifetime) {
      const after = valueOf(held(key), value)
      const isStored = await put(key, value, lifetime)
      if (after !== undefined) set(key, after, lifetime)
      return isStored
    }
  })

/** It revokes, and gives what this finds before. */
const revokeGiving = (find: (sound: Sound, key: string) => unknown): Change => (sound) => ({
  async revoke (key, lifetime) {
    const found = find(sound, key)
    sound.set(key, null, lifetime)
    return found as string | null
  }
})

/** Of calls at one key, the first alone does anything, unless another has come meanwhile. */
const givingWay: Change = ({ take, revoke }) => {
  const calls = new Map<string, number>()
  const isAlone = async (key: string): Promise<boolean> => {
    calls.set(key, (calls.get(key) ?? 0) + 1)
    await turn()
    return calls.get(key) === 1
  }
  return {
    take: async (key) => await isAlone(key) ? await take(key) : null,
    revoke: async (key, lifetime) => await isAlone(key) ? await revoke(key, lifetime) : null
  }
}

/** Takes that read first and remove then. */
const readingTake = ({ held, remove }: Sound): Store['take'] => async (key) => {
  const value = held(key) ?? null
  await turn()
  if (value !== null) remove(key)
  return value
}

/** The same by a pool that has one connection at first: its calls wait for each other. */
const takeOfGrowingPool: Change = (sound) => {
  const take = readingTake(sound)
  let calls = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    take (key) {
      if (++calls > 500) return take(key)
      const result = last.then(() => take(key))
      last = result
      return result
    }
  }
}

/** Every twentieth value that is taken stays. */
const takeMostOfTheTime: Change = ({ take, held }) => {
  let taken = 0
  return {
    take: async (key) => typeof held(key) === 'string' && ++taken % 20 === 0 ? held(key) ?? null : await take(key)
  }
}

/** Mistakes, and what is complained of. */
const MISTAKES: Record<string, [change: Change, ...complaints: RegExp[]]> = {
  'put overwrites': [
    ({ put, remove }) => ({
      put (...given) {
        remove(given[0])
        return put(...given)
      }
    }),
    /put returns false and changes nothing while the key is held/, /of 100 concurrent puts/, /revoke before put/
  ],
  'put overwrites a value and returns false': [
    setAfterPut((held, value) => typeof held === 'string' ? value : undefined),
    /put returns false and changes nothing while the key is held: take returned "second" instead of "first"/
  ],
  'put returns false and extends the lifetime': [
    setAfterPut((held) => held ?? undefined),
    /put returns false and changes nothing while the key is held: take returned "first" instead of null/
  ],
  'put returns false and overwrites a revocation': [
    setAfterPut((held, value) => held === null ? value : undefined),
    /revoke keeps the key from being put, and .* from being taken: take returned "value" instead of null/
  ],
  'put reads first and sets then': [
    ({ held, set }) => ({
      async put (key, value, lifetime) {
        const isFree = held(key) === undefined
        await turn()
        if (isFree) set(key, value, lifetime)
        return isFree
      }
    }),
    /of 100 concurrent puts .*the number of winners was 100 instead of 1/, /of 100 puts that race with a revoke/
  ],
  'of concurrent puts one returns true, and the last one is stored': [
    setAfterPut((_held, value) => value.startsWith('racer') ? value : undefined),
    /of 100 concurrent puts exactly one returns true, and its value is stored: take returned "racer-99"/
  ],
  'take reads first and removes then': [
    (sound) => ({ take: readingTake(sound) }),
    /of 100 concurrent takes exactly one gets the value: the number of winners was 100 instead of 1/
  ],
  'take reads first and removes then, by a pool whose first connection is alone for a while': [
    takeOfGrowingPool,
    /of 100 concurrent takes exactly one gets the value: the number of winners was \d\d+ instead of 1/
  ],
  'take leaves a value now and then': [
    takeMostOfTheTime,
    /of 100 concurrent takes exactly one gets the value: the number of winners was 2 instead of 1/
  ],
  'an expired value is given once': [
    ({ take, last }) => {
      let given = false
      return {
        async take (key) {
          const value = await take(key)
          if (value !== null || given || typeof last(key) !== 'string') return value
          given = true
          return last(key) ?? null
        }
      }
    },
    /take returned "(?:first|value)" instead of null/
  ],
  'takes and revokes that meet at a key all give way': [
    givingWay,
    /of 100 concurrent takes .*: the number of winners was 0 instead of 1/,
    /of 100 concurrent takes and revokes .*: the number of winners was 0 instead of 1/
  ],
  'take leaves the value': [
    ({ held }) => ({ take: async (key) => held(key) ?? null }),
    /a value can be taken once only: take returned "value" instead of null/
  ],
  'take gives a mark': [
    ({ take, held }) => ({ take: async (key) => held(key) === null ? '' : await take(key) }),
    /revoke keeps the key from being put, and .* from being taken: take returned "" instead of null/
  ],
  'revoke only deletes': [
    ({ take }) => ({ revoke: take }),
    /revoke keeps the key from being put/, /a revocation lasts for its lifetime/
  ],
  'revoke leaves the value': [
    ({ revoke, held }) => ({ revoke: async (key, lifetime) => held(key) ?? await revoke(key, lifetime) }),
    /revoke keeps the key from being put, and what it held from being taken: take returned "value"/
  ],
  'revoke lasts for ever': [
    ({ revoke }) => ({ revoke: (key) => revoke(key, 3600) }),
    /a revocation lasts for its lifetime, and ends with it: put returned false/
  ],
  'revoke ends early': [
    ({ revoke }) => ({ revoke: (key, lifetime) => revoke(key, lifetime / 100) }),
    /a revocation lasts for its lifetime, and ends with it: put returned true instead of false/
  ],
  'revoke gives whether the key held a value': [
    revokeGiving(({ held }, key) => typeof held(key) === 'string'),
    /revoke returns what the key held, .*revoke returned true instead of a text of 131072 characters/
  ],
  'revoke gives a mark': [
    revokeGiving(({ held }, key) => held(key) === null ? '' : held(key) ?? null),
    /revoke returns what the key held, .*revoke returned "" instead of null/
  ],
  'revoke gives an expired value': [
    revokeGiving(({ last }, key) => last(key) ?? null),
    /revoke returns what the key held, .*or expired: revoke returned "value" instead of null/
  ],
  'revoke reads first and sets then': [
    ({ held, set }) => ({
      async revoke (key, lifetime) {
        const value = held(key) ?? null
        await turn()
        set(key, null, lifetime)
        return value
      }
    }),
    /of 100 concurrent takes and revokes exactly one gets the value/
  ],
  'nothing expires': [
    putChanged((key, value) => [key, value, 3600]),
    /and not after: take returned "value" instead of null/, /a key whose value expired can be put again/
  ],
  'everything expires early': [
    putChanged((key, value, lifetime) => [key, value, lifetime / 10]),
    /can be taken until its lifetime has passed, and not after: take returned null instead of "value"/
  ],
  'values change from base64url to base64': [
    putChanged((key, value, lifetime) => [key, value.replace(/_$/, '/'), lifetime]),
    /put stores base64url text/
  ],
  'long values are cut': [
    putChanged((key, value, lifetime) => [key, value.slice(0, 131_071), lifetime]),
    /put stores base64url text of up to 131072 characters.*take returned a text of 131071 characters/
  ],
  'keys fold case': [
    ({ put, take }) => ({
      put: (key, ...given) => put(key.toLowerCase(), ...given),
      take: (key) => take(key.toLowerCase())
    }),
    /differ in case only/
  ],
  'take gives undefined for null': [
    ({ take }) => ({ take: async (key) => await take(key) ?? undefined as never }),
    /never put: take returned undefined instead of null/
  ],
  'one operation rejects': [
    () => ({ take: async () => { throw new Error('no permission') } }),
    /never put: it threw Error: no permission/
  ]
}

/** How it ends, and how many milliseconds it takes by the clock. No timer is left. */
async function outcome (
  t: Test, check: () => Promise<unknown>, clock = clockOf(t)
): Promise<{ text: string, took: number }> {
  const begun = clock.now
  let text: string | undefined
  clock.run(check).then(() => { text = 'it passed' }, (error: Error) => { text = error.message })
  for (;;) {
    for (let turns = 0; turns < 10; turns++) await turn()
    if (text !== undefined) break
    const times = [...clock.timers].map(({ at }) => at)
    if (times.length > 0) clock.pass(Math.min(...times) - clock.now)
  }
  t.equal(clock.timers.size, 0)
  return { text, took: clock.now - begun }
}

t.test('a value that expires because the machine was busy is no complaint: it is tried twice more', async (t) => {
  const busy = async (times: number): Promise<string> => {
    const clock = clockOf(t)
    const store = storeWith(({ put }) => ({
      async put (key, value, lifetime) {
        const isStored = await put(key, value, lifetime)
        // As if the process had not had the processor for that time.
        if (lifetime === 5 && times-- > 0) clock.now += 6000
        return isStored
      }
    }))
    return (await outcome(t, () => checkStore(store), clock)).text
  }
  t.equal(await busy(2), 'it passed')
  t.match(await busy(3), /until its lifetime has passed, .*: take returned null instead of "value"$/)
})

t.test('a sound store passes, twice at once: keys and values are those of the plugin', async (t) => {
  const given: Put[] = []
  const store = storeWith(({ put }) => ({
    put (...call) {
      given.push(call)
      return put(...call)
    }
  }))
  const { text, took } = await outcome(t, () => Promise.all([checkStore(store), checkStore(store)]))
  t.equal(text, 'it passed')
  t.ok(took <= 2000, 'about two seconds')
  for (const [key, value] of given) {
    if (!/^[\w-]{20}$/.test(key)) t.fail(`the key ${key}`)
    if (!/^[\w-]+$/.test(value)) t.fail(`the value ${value}`)
  }
  t.equal(given[0]?.[2], 1, 'what only shows that the store is there does not stay')
})

for (const [mistake, [change, ...complaints]] of Object.entries(MISTAKES)) {
  t.test(`found, and named: ${mistake}`, async (t) => {
    const { text } = await outcome(t, () => checkStore(storeWith(change)))
    t.match(text, /^The store breaks \d+ of \d+ promises:\n- /)
    for (const complaint of complaints) t.match(text, complaint, `${complaint}`)
  })
}

t.test('a lost connection is reported once, and nothing else; five seconds of silence count as lost', async (t) => {
  const refuse = async (): Promise<never> => { throw new Error('connect ECONNREFUSED 127.0.0.1:5432') }
  const throwing = (): never => { throw new Error('no client') }
  const silent = (): Promise<never> => new Promise(() => {})
  for (const [operation, cause, took] of [
    [refuse, 'connect ECONNREFUSED 127.0.0.1:5432', 0],
    [throwing, 'no client', 0],
    [silent, 'no response within 5 s', 5000]
  ] as const) {
    const store = { put: operation, take: operation, revoke: operation }
    t.strictSame(await outcome(t, () => checkStore(store)),
      { text: `The store cannot be used: Error: ${cause}`, took }, cause)
  }
})
