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

interface Mistake {
  what: string
  change: (sound: SoundStore) => Partial<Store>
  complaints: RegExp[]
}

const MISTAKES: Mistake[] = [
  {
    what: 'put overwrites',
    change: (sound) => ({
      async put (key, value, lifetime) {
        sound.entries.delete(key)
        return await sound.put(key, value, lifetime)
      }
    }),
    complaints: [
      /put gives false and changes nothing while the key is held/,
      /of 200 concurrent puts/,
      /revoke before put/
    ]
  },
  {
    what: 'put never says no',
    change: (sound) => ({ put: async (...given) => { await sound.put(...given); return true } }),
    complaints: [/put gave true and not false/]
  },
  {
    what: 'put reads first and sets then',
    change: (sound) => ({
      async put (key, value, lifetime) {
        const isHeld = sound.live(key) !== undefined
        await nextTurn()
        if (!isHeld) sound.set(key, value, lifetime)
        return !isHeld
      }
    }),
    complaints: [
      /of 200 concurrent puts exactly one gives true.*the number of winners gave 200 and not 1/,
      /of 200 puts that race with a revoke/
    ]
  },
  {
    what: 'of concurrent puts one gives true, and the last one is stored',
    change: (sound) => ({
      async put (key, value, lifetime) {
        const isStored = await sound.put(key, value, lifetime)
        if (value.startsWith('racer')) sound.set(key, value, lifetime)
        return isStored
      }
    }),
    complaints: [/of 200 concurrent puts exactly one gives true, and its value is stored: take gave "racer-199"/]
  },
  {
    what: 'take reads first and removes then',
    change: (sound) => ({
      async take (key) {
        const value = sound.live(key)?.value ?? null
        await nextTurn()
        if (value !== null) sound.entries.delete(key)
        return value
      }
    }),
    complaints: [/of 200 concurrent takes exactly one gets the value: the number of values gave 200 and not 1/]
  },
  {
    what: 'take leaves the value',
    change: (sound) => ({ take: async (key) => sound.live(key)?.value ?? null }),
    complaints: [/a value can be taken once only: take gave "value" and not null/]
  },
  {
    what: 'take removes a revocation',
    change: (sound) => ({
      async take (key) {
        const value = sound.live(key)?.value ?? null
        sound.entries.delete(key)
        return value
      }
    }),
    complaints: [/revoke before put keeps the key from being put, also after a take: put gave true/]
  },
  {
    what: 'revoke only deletes',
    change: (sound) => ({
      async revoke (key) {
        const isLive = sound.live(key) !== undefined
        sound.entries.delete(key)
        return isLive
      }
    }),
    complaints: [
      /revoke removes what the key holds, and keeps it from being put/,
      /a revocation lasts for its lifetime/
    ]
  },
  {
    what: 'revoke does nothing',
    change: (sound) => ({ revoke: async (key) => sound.live(key) !== undefined }),
    complaints: [/revoke removes what the key holds.*take gave "value" and not null/]
  },
  {
    what: 'revoke lasts for ever',
    change: (sound) => ({ revoke: async (key) => await sound.revoke(key, 3600) }),
    complaints: [/a revocation lasts for its lifetime, and ends with it: put gave false/]
  },
  {
    what: 'revoke ends early',
    change: (sound) => ({ revoke: async (key, lifetime) => await sound.revoke(key, lifetime / 100) }),
    complaints: [/a revocation lasts for its lifetime, and ends with it: put gave true and not false/]
  },
  {
    what: 'revoke gives nothing, as before it had an answer',
    change: (sound) => ({ revoke: async (...given) => { await sound.revoke(...given); return undefined as never } }),
    complaints: [/revoke gives true when the key held a value, and false.*revoke gave undefined and not true/]
  },
  {
    what: 'revoke takes a mark for a value',
    change: (sound) => ({
      async revoke (key, lifetime) {
        const isHeld = sound.live(key) !== undefined
        await sound.revoke(key, lifetime)
        return isHeld
      }
    }),
    complaints: [/revoke gives true.*revoke gave true and not false/]
  },
  {
    what: 'revoke takes an expired value for a live one',
    change: (sound) => ({
      async revoke (key, lifetime) {
        const value = sound.entries.get(key)?.value ?? null
        await sound.revoke(key, lifetime)
        return value !== null
      }
    }),
    complaints: [/revoke gives true.*or expired: revoke gave true and not false/]
  },
  {
    what: 'revoke reads first and sets then',
    change: (sound) => ({
      async revoke (key, lifetime) {
        const isLive = typeof sound.live(key)?.value === 'string'
        await nextTurn()
        sound.set(key, null, lifetime)
        return isLive
      }
    }),
    complaints: [/of 200 takes and revokes at once exactly one finds the value/]
  },
  {
    what: 'nothing expires',
    change: (sound) => ({ put: async (key, value) => await sound.put(key, value, 3600) }),
    complaints: [/and not after: take gave "value" and not null/, /a key whose value expired can be put again/]
  },
  {
    what: 'everything expires early',
    change: (sound) => ({ put: async (key, value, lifetime) => await sound.put(key, value, lifetime / 10) }),
    complaints: [/can be taken until its lifetime has passed, and not after: take gave null and not "value"/]
  },
  {
    what: 'values fold case',
    change: (sound) => ({ put: async (key, value, lifetime) => await sound.put(key, value.toLowerCase(), lifetime) }),
    complaints: [/put stores base64url text.*take gave a text of 64 characters/]
  },
  {
    what: 'values change from base64url to base64',
    change: (sound) => ({
      put: async (key, value, lifetime) => await sound.put(key, value.replace(/_$/, '/'), lifetime)
    }),
    complaints: [/put stores base64url text/]
  },
  {
    what: 'long values are cut',
    change: (sound) => ({
      put: async (key, value, lifetime) => await sound.put(key, value.slice(0, 32_767), lifetime)
    }),
    complaints: [/put stores base64url text of up to 32768 characters.*take gave a text of 32767 characters/]
  },
  {
    what: 'keys fold case',
    change: (sound) => ({
      put: async (key, value, lifetime) => await sound.put(key.toLowerCase(), value, lifetime),
      take: async (key) => await sound.take(key.toLowerCase())
    }),
    complaints: [/differ in case only/]
  },
  {
    what: 'take gives undefined for null',
    change: (sound) => ({ take: async (key) => (await sound.take(key)) ?? undefined as never }),
    complaints: [/never put: take gave undefined and not null/]
  },
  {
    what: 'one operation rejects',
    change: () => ({ take: async () => { throw new Error('no permission') } }),
    complaints: [/never put: it threw Error: no permission/]
  },
  {
    what: 'one operation throws at once',
    change: () => ({ take: () => { throw new Error('not implemented') } }),
    complaints: [/never put: it threw Error: not implemented/]
  }
]

const with_ = (sound: SoundStore, changed: Partial<Store>): Store => ({
  put: (...given) => sound.put(...given),
  take: (key) => sound.take(key),
  revoke: (...given) => sound.revoke(...given),
  ...changed
})

const failureOf = async (store: Store): Promise<string> =>
  await checkStore(store).then(() => 'it passed', (error: Error) => error.message)

t.test('a sound store passes', async (t) => {
  await t.resolves(checkStore(new SoundStore()))
})

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

t.test('it can be run again on the same store at once: no key is used twice', async (t) => {
  const store = new SoundStore()
  await t.resolves(Promise.all([checkStore(store), checkStore(store)]))
  await t.resolves(checkStore(store), 'and after it, while what it left has not expired')
})

t.test('keys and values are those of the plugin: base64url text', async (t) => {
  const store = new SoundStore()
  await checkStore(store)
  for (const { key, value } of store.calls) {
    if (!/^[\w-]{20}$/.test(key)) t.fail(`the key ${key}`)
    if (!/^[\w-]+$/.test(value as string)) t.fail(`the value ${value}`)
  }
  t.ok(store.calls.length > 200)
  t.equal(store.lifetimes[0], 1, 'what only shows that the store is there does not stay')
})

t.test('each mistake is found, and named', async (t) => {
  const found = await Promise.all(MISTAKES.map(async ({ change }) => {
    const sound = new SoundStore()
    return await failureOf(with_(sound, change(sound)))
  }))
  for (const [index, { what, complaints }] of MISTAKES.entries()) {
    t.match(found[index], /^The store breaks \d+ of 15 promises:\n- /, what)
    for (const complaint of complaints) t.match(found[index], complaint, what)
  }
})

t.test('no connection is said once, and nothing else', async (t) => {
  const refuse = async (): Promise<never> => { throw new Error('connect ECONNREFUSED 127.0.0.1:5432') }
  t.equal(await failureOf({ put: refuse, take: refuse, revoke: refuse }),
    'There is no connection to the store: Error: connect ECONNREFUSED 127.0.0.1:5432')
})

t.test('a store that is silent is no connection', async (t) => {
  // The clock is set forward, so that nobody waits.
  const { now } = performance
  t.teardown(() => { performance.now = now })
  const start = now.call(performance)
  const silent = (): Promise<never> => {
    performance.now = now
    return new Promise(() => {})
  }
  let calls = 0
  performance.now = () => calls++ === 0 ? start - 4990 : now.call(performance)
  t.match(await failureOf({ put: silent, take: silent, revoke: silent }),
    /^There is no connection to the store: Error: The store did not respond in time$/)
})
