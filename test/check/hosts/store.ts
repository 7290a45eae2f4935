// Does the store keep its promises?
import type { Store } from '../../../lib/index.ts'
import type { Change, Row } from './row.ts'
import { ownStore } from './row.ts'

const store = (replace: (records: Map<string, string>) => Partial<Store>) => (): Change =>
  ({ options: { store: ownStore(replace) } })

const refuses = async (): Promise<never> => { throw new Error('no such table') }

export const STORE: Row[] = [
  ['take removes nothing', store((records) => ({
    take: async (key) => records.get(key) || null
  })), 'token.replay-revokes'],
  ['revoke does nothing', store(() => ({ revoke: async () => null })), 'token.replay-revokes'],
  ['revoke removes nothing', store((records) => ({
    revoke: async (key) => records.get(key) ?? null
  })), 'token.replay-revokes'],
  ['the store fails now and then', store((records) => {
    let calls = 0
    return {
      async take (key) {
        if (++calls % 2 === 1) throw new Error('connection reset')
        const value = records.get(key)
        records.delete(key)
        return value || null
      }
    }
  }), 'service.one-store'],
  ['put throws', store(() => ({ put: refuses })), 'authorize.code'],
  ['put returns nothing', store(() => ({ put: async () => undefined as never })), 'authorize.code'],
  ['values are cut', store((records) => ({
    async put (key, value) {
      records.set(key, value.slice(0, 128))
      return true
    }
  })), 'token.response'],
  ['records are not kept', store(() => ({ put: async () => true })), 'token.response']
]
