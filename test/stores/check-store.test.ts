// The author of a store learns from checkStore which promises the store breaks, and which only.
import t from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import type { Store } from '../../lib/stores/store.ts'

interface Entry { value: string | null, expires: number }

/** A sound store. Its parts are replaced by broken ones. */
class SoundStore implements Store {
  readonly entries = new Map<string, Entry>()
  readonly calls: Array<{ key: string, value?: string }> = []
  readonly lifetimes: number[] = []

  live (key: string): Entry | undefined {
    const entry = this.entries.get(key)
    return entry !== undefined && entry.expires > performance.now() ? entry : undefined
  }

  set (key: string, value: string | null, lifetime: number): void {
    this.entries.set(key, { value, expires: performance.now() + lifetime * 1000 })
  }

  async put (key: string, value: string, lifetime: number): Promise<boolean> {
    this.calls.push({ key, value })
    this.lifetimes.push(lifetime)
    if (this.live(key) !== undefined) return false
    this.set(key, value, lifetime)
    return true
  }

  async take (key: string): Promise<string | null> {
    const value = this.live(key)?.value ?? null
    if (value !== null) this.entries.delete(key)
    return value
  }

  async revoke (key: string, lifetime: number): Promise<boolean> {
    const value = this.live(key)?.value ?? null
    this.set(key, null, lifetime)
    return value !== null
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

type Change = (sound: SoundStore) => Partial<Store>
type Put = Parameters<Store['put']>

const putBy = (put: (sound: SoundStore, ...given: Put) => Promise<boolean>): Change => (sound) =>
  ({ put: (...given) => put(sound, ...given) })
const takeBy = (take: (sound: SoundStore, key: string) => Promise<string | null>): Change => (sound) =>
  ({ take: (key) => take(sound, key) })
const revokeBy = (revoke: (sound: SoundStore, key: string, lifetime: number) => Promise<boolean>): Change => (sound) =>
  ({ revoke: (...given) => revoke(sound, ...given) })

/** It puts something else. */
const putChanged = (change: (...given: Put) => Put): Change =>
  putBy((sound, ...given) => sound.put(...change(...given)))

/** It sets this value after a put, whatever the put gave; undefined: none. */
const setAfterPut = (valueOf: (held: string | null | undefined, value: string) => string | undefined): Change =>
  putBy(async (sound, key, value, lifetime) => {
    const held = sound.live(key)?.value
    const isStored = await sound.put(key, value, lifetime)
    const set = valueOf(held, value)
    if (set !== undefined) sound.set(key, set, lifetime)
    return isStored
  })

/** It revokes, and gives what was so before. */
const revokeGiving = (before: (sound: SoundStore, key: string) => boolean): Change =>
  revokeBy(async (sound, key, lifetime) => {
    const result = before(sound, key)
    await sound.revoke(key, lifetime)
    return result
  })

/** Mistakes, and what is complained of. */
const MISTAKES: Record<string, [change: Change, ...complaints: RegExp[]]> = {
  'put overwrites': [
    putBy(async (sound, ...given) => {
      sound.entries.delete(given[0])
      return await sound.put(...given)
    }),
    /put gives false and changes nothing while the key is held/, /of 200 concurrent puts/, /revoke before put/
  ],
  'put overwrites a value and gives false': [
    setAfterPut((held, value) => typeof held === 'string' ? value : undefined),
    /put gives false and changes nothing while the key is held: take gave "second" and not "first"/
  ],
  'put gives false and extends the lifetime': [
    setAfterPut((held) => held ?? undefined),
    /put gives false and changes nothing while the key is held: take gave "first" and not null/
  ],
  'put gives false and overwrites a revocation': [
    setAfterPut((held, value) => held === null ? value : undefined),
    /revoke removes what the key holds, and keeps it from being put: take gave "value" and not null/
  ],
  'put reads first and sets then': [
    putBy(async (sound, key, value, lifetime) => {
      const isHeld = sound.live(key) !== undefined
      await nextTurn()
      if (!isHeld) sound.set(key, value, lifetime)
      return !isHeld
    }),
    /of 200 concurrent puts exactly one gives true.*the number of winners gave 200 and not 1/,
    /of 200 puts that race with a revoke/
  ],
  'of concurrent puts one gives true, and the last one is stored': [
    setAfterPut((_held, value) => value.startsWith('racer') ? value : undefined),
    /of 200 concurrent puts exactly one gives true, and its value is stored: take gave "racer-199"/
  ],
  'take reads first and removes then': [
    takeBy(async (sound, key) => {
      const value = sound.live(key)?.value ?? null
      await nextTurn()
      if (value !== null) sound.entries.delete(key)
      return value
    }),
    /of 200 concurrent takes exactly one gets the value: the number of values gave 200 and not 1/
  ],
  'take leaves the value': [
    takeBy(async (sound, key) => sound.live(key)?.value ?? null),
    /a value can be taken once only: take gave "value" and not null/
  ],
  'take removes a revocation': [
    takeBy(async (sound, key) => {
      const value = sound.live(key)?.value ?? null
      sound.entries.delete(key)
      return value
    }),
    /revoke removes what the key holds, and keeps it from being put: put gave true/,
    /revoke before put keeps the key from being put, however often it is taken: put gave true/
  ],
  'take removes a revocation and puts it back': [
    takeBy(async (sound, key) => {
      const entry = sound.live(key)
      sound.entries.delete(key)
      await nextTurn()
      if (entry?.value === null) sound.entries.set(key, entry)
      return entry?.value ?? null
    }),
    /puts and takes of a revoked key at once none stores a value: the number of puts gave \d+ and not 0/
  ],
  'revoke only deletes': [
    revokeBy(async (sound, key) => {
      const isLive = sound.live(key) !== undefined
      sound.entries.delete(key)
      return isLive
    }),
    /revoke removes what the key holds, and keeps it from being put/, /a revocation lasts for its lifetime/
  ],
  'revoke lasts for ever': [
    revokeBy((sound, key) => sound.revoke(key, 3600)),
    /a revocation lasts for its lifetime, and ends with it: put gave false/
  ],
  'revoke ends early': [
    revokeBy((sound, key, lifetime) => sound.revoke(key, lifetime / 100)),
    /a revocation lasts for its lifetime, and ends with it: put gave true and not false/
  ],
  'revoke gives nothing': [
    revokeBy(async (sound, ...given) => await sound.revoke(...given).then(() => undefined as never)),
    /revoke gives true when the key held a value, and false.*revoke gave undefined and not true/
  ],
  'revoke takes a mark for a value': [
    revokeGiving((sound, key) => sound.live(key) !== undefined),
    /revoke gives true.*revoke gave true and not false/
  ],
  'revoke takes an expired value for a live one': [
    revokeGiving((sound, key) => typeof sound.entries.get(key)?.value === 'string'),
    /revoke gives true.*or expired: revoke gave true and not false/
  ],
  'revoke reads first and sets then': [
    revokeBy(async (sound, key, lifetime) => {
      const isLive = typeof sound.live(key)?.value === 'string'
      await nextTurn()
      sound.set(key, null, lifetime)
      return isLive
    }),
    /of 200 takes and revokes at once exactly one finds the value/
  ],
  'nothing expires': [
    putChanged((key, value) => [key, value, 3600]),
    /and not after: take gave "value" and not null/, /a key whose value expired can be put again/
  ],
  'everything expires early': [
    putChanged((key, value, lifetime) => [key, value, lifetime / 10]),
    /can be taken until its lifetime has passed, and not after: take gave null and not "value"/
  ],
  'values fold case': [
    putChanged((key, value, lifetime) => [key, value.toLowerCase(), lifetime]),
    /put stores base64url text.*take gave a text of 64 characters/
  ],
  'values change from base64url to base64': [
    putChanged((key, value, lifetime) => [key, value.replace(/_$/, '/'), lifetime]),
    /put stores base64url text/
  ],
  'long values are cut': [
    putChanged((key, value, lifetime) => [key, value.slice(0, 131_071), lifetime]),
    /put stores base64url text of up to 131072 characters.*take gave a text of 131071 characters/
  ],
  'keys fold case': [
    (sound) => ({
      put: (key, ...given) => sound.put(key.toLowerCase(), ...given), take: (key) => sound.take(key.toLowerCase())
    }),
    /differ in case only/
  ],
  'take gives undefined for null': [
    takeBy(async (sound, key) => (await sound.take(key)) ?? undefined as never),
    /never put: take gave undefined and not null/
  ],
  'one operation rejects': [
    takeBy(async () => { throw new Error('no permission') }),
    /never put: it threw Error: no permission/
  ]
}

const with_ = (sound: SoundStore, changed: Partial<Store>): Store => ({
  put: (...given) => sound.put(...given),
  take: (key) => sound.take(key),
  revoke: (...given) => sound.revoke(...given),
  ...changed
})

const failureOf = async (store: Store): Promise<string> =>
  await checkStore(store).then(() => 'it passed', (error: Error) => error.message)

t.test('a value that expires because the machine was busy is no complaint: it is tried once more', async (t) => {
  const { now } = performance
  t.teardown(() => { performance.now = now })
  let late = 0
  let last = now.call(performance)
  let passed = last
  // Of a real stall two seconds count at most.
  performance.now = () => {
    const time = now.call(performance)
    passed += Math.min(time - last, 2000)
    last = time
    return passed + late
  }
  const sound = new SoundStore()
  const busy = (times: number): Store => with_(sound, {
    async put (key, value, lifetime) {
      const isStored = await sound.put(key, value, lifetime)
      // The clock goes on, as if the process had not had the processor for that time.
      if (lifetime === 5 && times-- > 0) late += 6000
      return isStored
    }
  })
  t.equal(await failureOf(busy(2)), 'it passed')
  t.match(await failureOf(busy(3)), /until its lifetime has passed, .*: take gave null and not "value"$/)
})

t.test('a sound store passes, twice at once: keys and values are those of the plugin', async (t) => {
  const store = new SoundStore()
  await t.resolves(Promise.all([checkStore(store), checkStore(store)]))
  for (const { key, value } of store.calls) {
    if (!/^[\w-]{20}$/.test(key)) t.fail(`the key ${key}`)
    if (!/^[\w-]+$/.test(value as string)) t.fail(`the value ${value}`)
  }
  t.ok(store.calls.length > 200)
  t.equal(store.lifetimes[0], 1, 'what only shows that the store is there does not stay')
})

t.test('each mistake is found, and named', async (t) => {
  await Promise.all(Object.entries(MISTAKES).map(async ([what, [change, ...complaints]]) => {
    const sound = new SoundStore()
    const found = await failureOf(with_(sound, change(sound)))
    t.match(found, /^The store breaks \d+ of 16 promises:\n- /, what)
    for (const complaint of complaints) t.match(found, complaint, what)
  }))
})

t.test('no connection is said once, and nothing else', async (t) => {
  const refuse = async (): Promise<never> => { throw new Error('connect ECONNREFUSED 127.0.0.1:5432') }
  t.equal(await failureOf({ put: refuse, take: refuse, revoke: refuse }),
    'There is no connection to the store: Error: connect ECONNREFUSED 127.0.0.1:5432')
})

t.test('a store that is silent is no connection', async (t) => {
  const silent = (): Promise<never> => new Promise(() => {})
  t.equal(await failureOf({ put: silent, take: silent, revoke: silent }),
    'There is no connection to the store: Error: no response within 5 s')
})
