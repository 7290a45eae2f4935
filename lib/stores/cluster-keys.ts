import { Command } from 'ioredis'
import type { Cluster } from 'ioredis'

/**
 * Of these keys, which get the prefix, one for each master of the Cluster. A master that is down has its slots until a
 * replica takes them. A master that has hardly any slots may be left out: none of the keys may be in them.
 */
export function oneForEachMaster (cluster: Cluster, prefix: string, keys: string[]): string[] {
  const { slots, options: { keyPrefix = '' } } = cluster
  const masters = new Set(slots.map(([master]) => master))
  const found = new Map<string, string>()
  for (const key of keys) {
    const slot = new Command('get', [prefix + key], { keyPrefix }).getSlot()
    const [master] = slots[slot] ?? []
    if (master !== undefined && !found.has(master)) found.set(master, key)
    if (found.size === masters.size) break
  }
  return [...found.values()]
}
