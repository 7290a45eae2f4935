// Redis, as far as the plugin uses it: the semantics of SET … EX … NX, SET … EX … GET and GETDEL, as a store. Every
// command waits until the explorer lets it happen. `stepped-redis.test.ts` compares it with a redis-server.
import type { Store } from '../../lib/index.ts'
import { begin, isProbe, valueName } from './world.ts'
import type { SteppedStore } from './world.ts'

interface Entry { value: string, minutes: number }

/** An error that Redis replies with. */
class ReplyError extends Error {
  override name = 'ReplyError'
}

/** Mistakes that break single use, to see that they are found. */
export const MISTAKES = [
  'SET ignores NX', 'SET GET changes nothing', 'SET GET needs a value', 'GETDEL keeps the value'
] as const

export type Mistake = typeof MISTAKES[number] | 'a refused command is executed'

export interface SteppedRedis extends SteppedStore {
  /** Seconds that the key is held for; -2 when it is not. */
  ttl (key: string): number
}

/** A Redis of the explorer's. */
export function steppedRedis (mistake?: Mistake): SteppedRedis {
  const entries = new Map<string, Entry>()
  // The first key that is ever put is that of the code; all others are the one of its token.
  let codeKey: string | undefined
  let isFull = false
  const nameOf = (key: string) => key === codeKey ? 'code' : 'token'

  function set (key: string, value: string, lifetime: number, option: 'NX' | 'GET'): string | null | ReplyError {
    if (!isProbe(key)) codeKey ??= key
    if (isFull) return new ReplyError("OOM command not allowed when used memory > 'maxmemory'.")
    const { value: old = null } = entries.get(key) ?? {}
    const isRevocation = option === 'GET'
    if (isRevocation && mistake === 'SET GET changes nothing') return old
    if (isRevocation && mistake === 'SET GET needs a value' && old === null) return old
    if (!isRevocation && old !== null && mistake !== 'SET ignores NX') return null
    entries.set(key, { value, minutes: lifetime / 60 })
    return isRevocation ? old : 'OK'
  }

  function getdel (key: string): string | null {
    const { value = null } = entries.get(key) ?? {}
    if (mistake !== 'GETDEL keeps the value') entries.delete(key)
    return value
  }

  function send (operation: string, key: string, execute: () => string | null | ReplyError): Promise<string | null> {
    return new Promise((resolve, reject) => begin({
      name: `${operation} ${nameOf(key)}`,
      execute,
      deliver: (reply) => reply instanceof Error ? reject(reply) : resolve(reply as string | null),
      lose: () => reject(new Error('The connection to Redis was lost before the reply came')),
      refuse () {
        if (mistake === 'a refused command is executed') execute()
        reject(new ReplyError("READONLY You can't write against a read only replica."))
      }
    }))
  }

  const store: Store = {
    put: async (key, value, lifetime) => await send('put', key, () => set(key, value, lifetime, 'NX')) === 'OK',
    take: async (key) => await send('take', key, () => getdel(key)) || null,
    revoke: async (key, lifetime) => await send('revoke', key, () => set(key, '', lifetime, 'GET')) || null
  }
  return {
    options: { store },
    fill (full) { isFull = full },
    ttl: (key) => (entries.get(key)?.minutes ?? -2 / 60) * 60,
    age (minutes) {
      for (const [key, entry] of entries) {
        entry.minutes -= minutes
        if (entry.minutes <= 0) entries.delete(key)
      }
    },
    held: () => Object.fromEntries(
      [...entries].map(([key, { value, minutes }]) => [nameOf(key), `${valueName(value)} ${minutes}`])
    ),
    save () {
      const keptCodeKey = codeKey
      const kept = [...entries].filter(([key]) => !isProbe(key)).map(([key, entry]) => [key, { ...entry }] as const)
      return () => {
        entries.clear()
        isFull = false
        codeKey = keptCodeKey
        for (const [key, entry] of kept) entries.set(key, { ...entry })
      }
    }
  }
}
