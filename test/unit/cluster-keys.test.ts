// One key for each master of a Cluster, by the slots that the Cluster has told. With real servers: faults/cluster.
import type { Cluster } from 'ioredis'
import t from 'tap'
import { oneForEachMaster } from '../../lib/stores/cluster-keys.ts'

/** Slots as CRC16 gives them: `a` is in 15495, `b` in 3300, `c` in 7365, `{b}x` where `b` is. */
const KEYS = ['a', '{b}x', 'b', 'c']

/** A Cluster whose slots are in three thirds, one of which may have no master. */
function clusterOf (masters: Array<string | undefined>, keyPrefix?: string): Cluster {
  // As in ioredis, a slot without a master is a hole in the array.
  const slots: string[][] = []
  for (let slot = 0; slot < 16_384; slot++) {
    const master = masters[Math.floor(slot / 5462)]
    if (master !== undefined) slots[slot] = [master]
  }
  return { slots, options: keyPrefix === undefined ? {} : { keyPrefix } } as unknown as Cluster
}

t.test('one key for each master', async (t) => {
  t.strictSame(oneForEachMaster(clusterOf(['one', 'two', 'three']), '', KEYS), ['a', '{b}x', 'c'])
  t.strictSame(oneForEachMaster(clusterOf(['one', 'one', 'one']), '', KEYS), ['a'])
})

t.test('slots that no master has are passed over', async (t) => {
  t.strictSame(oneForEachMaster(clusterOf(['one', undefined, 'three']), '', KEYS), ['a', '{b}x'])
})

t.test('prefixes count: they may have the part of a key that decides', async (t) => {
  const cluster = clusterOf(['one', 'two', 'three'])
  t.strictSame(oneForEachMaster(cluster, '{b}', KEYS), ['a'], 'that of the plugin')
  t.strictSame(oneForEachMaster(clusterOf(['one', 'two', 'three'], '{b}'), '', KEYS), ['a'], 'that of the client')
})
