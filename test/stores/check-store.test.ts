// Whoever writes a store of their own learns which promises it breaks.
import t from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import { type Store } from '../../lib/stores/store.ts'

interface Entry { value: string | null, expires: number }

/** A sound store; its parts are replaced by broken ones. */
class SoundStore implements Store {
  readonly entries = new Map<string, Entry>()

  live (key: string): Entry | undefined {
    const entry = this.entries.get(key)
    return entry !== undefined && entry.expires > Date.now() ? entry : undefined
  }

  async put (key: string, value: string, lifetime: number): Promise<boolean> {
    if (this.live(key) !== undefined) return false
    this.entries.set(key, { value, expires: Date.now() + lifetime * 1000 })
    return true
  }

  async take (key: string): Promise<string | null> {
    const value = this.live(key)?.value ?? null
    if (value !== null) this.entries.delete(key)
    return value
  }

  async revoke (key: string, lifetime: number): Promise<void> {
    this.entries.set(key, { value: null, expires: Date.now() + lifetime * 1000 })
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

const BROKEN: Array<[what: string, change: (store: SoundStore) => Partial<Store>, complaints: RegExp[]]> = [
  ['put overwrites', (store) => ({ put: async (key, value, lifetime) => { store.entries.delete(key); return store.put(key, value, lifetime) } }), [/put gives false and changes nothing while the key is held/, /of 200 concurrent puts/, /revoke before put/]],
  ['put never says no', (store) => ({ put: async (key, value, lifetime) => { await store.put(key, value, lifetime); return true } }), [/put gave true and not false/]],
  ['read, then set', (store) => ({ put: async (key, value, lifetime) => { const held = store.live(key) !== undefined; await pause(); if (!held) store.entries.set(key, { value, expires: Date.now() + lifetime * 1000 }); return !held } }), [/of 200 concurrent puts exactly one holds the key.*the race gave 200 and not 1/, /of 200 puts that race with a revoke/]],
  ['read, then remove', (store) => ({ take: async (key) => { const value = store.live(key)?.value ?? null; await pause(); if (value !== null) store.entries.delete(key); return value } }), [/of 200 concurrent takes exactly one gets the value: the race gave 200 and not 1/]],
  ['take leaves the value', (store) => ({ take: async (key) => store.live(key)?.value ?? null }), [/a value can be taken once only: take gave "value" and not null/]],
  ['a take lifts the revocation', (store) => ({ take: async (key) => { const value = store.live(key)?.value ?? null; store.entries.delete(key); return value } }), [/revoke before put keeps the key from being put, also after a take: put gave true/]],
  ['revoke only deletes', (store) => ({ revoke: async (key) => { store.entries.delete(key) } }), [/revoke kills what the key holds, and keeps it from being put/, /a revocation holds for its lifetime/]],
  ['revoke does nothing', () => ({ revoke: async () => {} }), [/revoke kills what the key holds/]],
  ['revoke lasts for ever', (store) => ({ revoke: async (key) => store.revoke(key, 3600) }), [/a revocation holds for its lifetime, and ends with it: put gave false/]],
  ['nothing expires', (store) => ({ put: async (key, value) => store.put(key, value, 3600) }), [/gone after: take gave "value" and not null/, /a key whose value expired can be put again/]],
  ['everything expires early', (store) => ({ put: async (key, value, lifetime) => store.put(key, value, lifetime / 10) }), [/is there before its lifetime has passed/]],
  ['values change', (store) => ({ put: async (key, value, lifetime) => store.put(key, value.trim().replace(/\0/g, ''), lifetime) }), [/take returns it unchanged/]],
  ['keys fold case', (store) => ({ put: async (key, value, lifetime) => store.put(key.toLowerCase(), value, lifetime), take: async (key) => store.take(key.toLowerCase()) }), [/differ in case only/]],
  ['undefined for null', (store) => ({ take: async (key) => (await store.take(key)) ?? undefined as unknown as null }), [/never put: take gave undefined and not null/]],
  ['it throws', () => ({ take: async () => { throw new Error('ECONNREFUSED') } }), [/never put: it threw Error: ECONNREFUSED/]],
  ['it throws at once', () => ({ take: () => { throw new Error('not implemented') } }), [/never put: it threw Error: not implemented/]]
]

await t.test('a sound store passes, and all its promises are tried', async (t) => {
  await t.resolves(checkStore(new SoundStore()))
})

await Promise.all(BROKEN.map(async ([what, change, complaints]) => {
  const sound = new SoundStore()
  const store: Store = { put: (...given) => sound.put(...given), take: (key) => sound.take(key), revoke: (...given) => sound.revoke(...given), ...change(sound) }
  const error = await checkStore(store).then(() => null, (thrown: Error) => thrown)
  t.match(error?.message, /^The store breaks \d+ of 13 promises:\n- /, what)
  for (const complaint of complaints) t.match(error?.message, complaint, what)
}))
