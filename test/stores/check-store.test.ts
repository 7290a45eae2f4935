// The author of a store learns from checkStore which promises the store breaks, and no others. By the clock of the
// tests: nothing is waited for. In real time: stores.
import { byClock, newClock, pass } from '../helpers/virtual-clock.ts'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type * as checker from '../../lib/testing/check-store.ts'
import type { Store } from '../../lib/stores/store.ts'
import { lib } from '../helpers/lib.ts'
import { prepared } from '../helpers/prepared.ts'

/** `setTimeout` of node:timers/promises by the clock of the tests. What was called off never ends. */
const wait = (milliseconds: number, value: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds, value)
    signal?.addEventListener('abort', () => clearTimeout(timer))
  })

const { checkStore } = await prepared(() =>
  t.mockImport<typeof checker>(lib('testing/check-store.ts'), { 'node:timers/promises': { setTimeout: wait } }))

interface Entry { value: string | null, expires: number }

/** A sound store. Its parts are replaced by broken ones. */
class SoundStore implements Store {
  readonly entries = new Map<string, Entry>()
  readonly calls: Array<{ key: string, value: string, lifetime: number }> = []

  live (key: string): Entry | undefined {
    const entry = this.entries.get(key)
    return entry !== undefined && entry.expires > performance.now() ? entry : undefined
  }

  value (key: string): string | null {
    return this.live(key)?.value ?? null
  }

  set (key: string, value: string | null, lifetime: number): void {
    this.entries.set(key, { value, expires: performance.now() + lifetime * 1000 })
  }

  async put (key: string, value: string, lifetime: number): Promise<boolean> {
    this.calls.push({ key, value, lifetime })
    if (this.live(key) !== undefined) return false
    this.set(key, value, lifetime)
    return true
  }

  async take (key: string): Promise<string | null> {
    const value = this.value(key)
    if (value !== null) this.entries.delete(key)
    return value
  }

  async revoke (key: string, lifetime: number): Promise<string | null> {
    const value = this.value(key)
    this.set(key, null, lifetime)
    return value
  }
}

const sound = SoundStore.prototype

/** Operations that replace those of the sound store. */
type Change = Partial<Store> & ThisType<SoundStore>
type Put = Parameters<Store['put']>

const storeWith = (change: Change): SoundStore => Object.assign(new SoundStore(), change)

/** It puts something else. */
const putChanged = (change: (...given: Put) => Put): Change => ({
  put (...given) { return sound.put.apply(this, change(...given)) }
})

/** It sets this value after a put, whatever the put returned; undefined: none. */
const setAfterPut = (valueOf: (held: string | null | undefined, value: string) => string | undefined): Change => ({
  async put (key, value, lifetime) {
    const held = this.live(key)?.value
    const isStored = await sound.put.call(this, key, value, lifetime)
    const set = valueOf(held, value)
    if (set !== undefined) this.set(key, set, lifetime)
    return isStored
  }
})

/** It revokes, and gives what this finds before. */
const revokeGiving = (before: (store: SoundStore, key: string) => string | null): Change => ({
  async revoke (key, lifetime) {
    const result = before(this, key)
    this.set(key, null, lifetime)
    return result
  }
})

function givingWay (): Change {
  const takes = new Map<string, number>()
  return {
    async take (key) {
      takes.set(key, (takes.get(key) ?? 0) + 1)
      await turn()
      return takes.get(key) === 1 ? await sound.take.call(this, key) : null
    },
    async revoke (key, lifetime) {
      await turn()
      const value = await sound.revoke.call(this, key, lifetime)
      return (takes.get(key) ?? 0) > 1 ? null : value
    }
  }
}

/** Mistakes, and what is complained of. */
const MISTAKES: Record<string, [change: Change, ...complaints: RegExp[]]> = {
  'put overwrites': [{
    async put (...given) {
      this.entries.delete(given[0])
      return await sound.put.apply(this, given)
    }
  }, /put returns false and changes nothing while the key is held/, /of 200 concurrent puts/, /revoke before put/],
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
  'put reads first and sets then': [{
    async put (key, value, lifetime) {
      const isHeld = this.live(key) !== undefined
      await turn()
      if (!isHeld) this.set(key, value, lifetime)
      return !isHeld
    }
  }, /of 200 concurrent puts .*the number of winners was 200 instead of 1/, /of 200 puts that race with a revoke/],
  'of concurrent puts one returns true, and the last one is stored': [
    setAfterPut((_held, value) => value.startsWith('racer') ? value : undefined),
    /of 200 concurrent puts exactly one returns true, and its value is stored: take returned "racer-199"/
  ],
  'take reads first and removes then': [{
    async take (key) {
      const value = this.value(key)
      await turn()
      if (value !== null) this.entries.delete(key)
      return value
    }
  }, /of 200 concurrent takes exactly one gets the value: the number of values was 200 instead of 1/],
  'takes and revokes that meet at a key all give way': [
    givingWay(), /of 200 concurrent takes .*: the number of values was 0 instead of 1/,
    /of 200 concurrent takes and revokes .*: the number of values was 0 instead of 1/
  ],
  'take leaves the value': [
    { async take (key) { return this.value(key) } },
    /a value can be taken once only: take returned "value" instead of null/
  ],
  'take gives a mark': [{
    async take (key) {
      const entry = this.live(key)
      this.entries.delete(key)
      return entry === undefined ? null : entry.value ?? ''
    }
  }, /revoke keeps the key from being put, and .* from being taken: take returned "" instead of null/],
  'revoke only deletes': [{
    async revoke (key) {
      const value = this.value(key)
      this.entries.delete(key)
      return value
    }
  }, /revoke keeps the key from being put/, /a revocation lasts for its lifetime/],
  'revoke leaves the value': [{
    async revoke (key, lifetime) {
      const value = this.value(key)
      if (value === null) this.set(key, null, lifetime)
      return value
    }
  }, /revoke keeps the key from being put, and what it held from being taken: take returned "value"/],
  'revoke lasts for ever': [
    { revoke (key) { return sound.revoke.call(this, key, 3600) } },
    /a revocation lasts for its lifetime, and ends with it: put returned false/
  ],
  'revoke ends early': [
    { revoke (key, lifetime) { return sound.revoke.call(this, key, lifetime / 100) } },
    /a revocation lasts for its lifetime, and ends with it: put returned true instead of false/
  ],
  'revoke gives nothing': [
    { async revoke (key, lifetime) { return this.set(key, null, lifetime) as never } },
    /revoke returns what the key held, .*revoke returned undefined instead of/
  ],
  'revoke gives whether the key held a value': [
    revokeGiving((store, key) => (store.value(key) !== null) as never),
    /revoke returns what the key held, .*revoke returned true instead of a text of 131072 characters/
  ],
  'revoke gives a mark': [
    revokeGiving((store, key) => store.live(key) === undefined ? null : store.value(key) ?? ''),
    /revoke returns what the key held, .*revoke returned "" instead of null/
  ],
  'revoke gives an expired value': [
    revokeGiving((store, key) => store.entries.get(key)?.value ?? null),
    /revoke returns what the key held, .*or expired: revoke returned "value" instead of null/
  ],
  'revoke reads first and sets then': [{
    async revoke (key, lifetime) {
      const value = this.value(key)
      await turn()
      this.set(key, null, lifetime)
      return value
    }
  }, /of 200 concurrent takes and revokes exactly one gets the value/],
  'nothing expires': [
    putChanged((key, value) => [key, value, 3600]),
    /and not after: take returned "value" instead of null/, /a key whose value expired can be put again/
  ],
  'everything expires early': [
    putChanged((key, value, lifetime) => [key, value, lifetime / 10]),
    /can be taken until its lifetime has passed, and not after: take returned null instead of "value"/
  ],
  'values fold case': [
    putChanged((key, value, lifetime) => [key, value.toLowerCase(), lifetime]),
    /put stores base64url text.*take returned a text of 64 characters/
  ],
  'values change from base64url to base64': [
    putChanged((key, value, lifetime) => [key, value.replace(/_$/, '/'), lifetime]),
    /put stores base64url text/
  ],
  'long values are cut': [
    putChanged((key, value, lifetime) => [key, value.slice(0, 131_071), lifetime]),
    /put stores base64url text of up to 131072 characters.*take returned a text of 131071 characters/
  ],
  'keys fold case': [{
    ...putChanged((key, ...given) => [key.toLowerCase(), ...given]),
    take (key) { return sound.take.call(this, key.toLowerCase()) }
  }, /differ in case only/],
  'take gives undefined for null': [
    { async take (key) { return await sound.take.call(this, key) ?? undefined as never } },
    /never put: take returned undefined instead of null/
  ],
  'one operation rejects': [
    { take: async () => { throw new Error('no permission') } },
    /never put: it threw Error: no permission/
  ]
}

/** How it ends, and how many milliseconds it takes by the clock. No timer is left. */
async function outcome (
  t: Test, check: () => Promise<unknown>, clock = newClock()
): Promise<{ text: string, took: number }> {
  const begun = clock.now
  let text: string | undefined
  byClock(clock, check).then(() => { text = 'it passed' }, (error: Error) => { text = error.message })
  for (;;) {
    for (let turns = 0; turns < 10; turns++) await turn()
    if (text !== undefined) break
    pass(clock, Math.min(...[...clock.timers].map(({ at }) => at)) - clock.now)
  }
  t.equal(clock.timers.size, 0)
  return { text, took: clock.now - begun }
}

t.test('a value that expires because the machine was busy is no complaint: it is tried twice more', async (t) => {
  const busy = async (times: number): Promise<string> => {
    const clock = newClock()
    const store = storeWith({
      async put (key, value, lifetime) {
        const isStored = await sound.put.call(this, key, value, lifetime)
        // As if the process had not had the processor for that time.
        if (lifetime === 5 && times-- > 0) clock.now += 6000
        return isStored
      }
    })
    return (await outcome(t, () => checkStore(store), clock)).text
  }
  t.equal(await busy(2), 'it passed')
  t.match(await busy(3), /until its lifetime has passed, .*: take returned null instead of "value"$/)
})

t.test('a sound store passes, twice at once: keys and values are those of the plugin', async (t) => {
  const store = storeWith({})
  const both = () => Promise.all([checkStore(store), checkStore(store)])
  const { text, took } = await outcome(t, both)
  t.equal(text, 'it passed')
  t.ok(took <= 2000, 'about two seconds')
  for (const { key, value } of store.calls) {
    if (!/^[\w-]{20}$/.test(key)) t.fail(`the key ${key}`)
    if (!/^[\w-]+$/.test(value)) t.fail(`the value ${value}`)
  }
  t.ok(store.calls.length > 200)
  t.equal(store.calls[0]?.lifetime, 1, 'what only shows that the store is there does not stay')
})

for (const [mistake, [change, ...complaints]] of Object.entries(MISTAKES)) {
  t.test(`found, and named: ${mistake}`, async (t) => {
    const { text } = await outcome(t, () => checkStore(storeWith(change)))
    t.match(text, /^The store breaks \d+ of 15 promises:\n- /)
    for (const complaint of complaints) t.match(text, complaint, `${complaint}`)
  })
}

t.test('a lost connection is reported once, and nothing else; five seconds of silence count as lost', async (t) => {
  const refuse = async (): Promise<never> => { throw new Error('connect ECONNREFUSED 127.0.0.1:5432') }
  const silent = (): Promise<never> => new Promise(() => {})
  for (const [operation, cause, took] of [
    [refuse, 'connect ECONNREFUSED 127.0.0.1:5432', 0], [silent, 'no response within 5 s', 5000]
  ] as const) {
    const store = { put: operation, take: operation, revoke: operation }
    t.strictSame(await outcome(t, () => checkStore(store)),
      { text: `There is no connection to the store: Error: ${cause}`, took }, cause)
  }
})
