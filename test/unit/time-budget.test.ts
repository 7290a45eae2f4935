// All store calls of a request together take `storeTimeout` at most: a call that would begin later is not made. The
// time of the host's own functions does not count.
import t from 'tap'
import type { Store } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { PORTAL, RECORDS, startApp } from '../app.ts'
import { shiftedClocks } from '../clock.ts'
import { wire } from '../wire.ts'

t.test('each request has one deadline for all of its store calls', async (t) => {
  const clocks = shiftedClocks(t)
  const memory = new MemoryStore(10)
  let seconds = 4
  const calls: string[] = []
  const slow = <T>(name: string, result: T): T => {
    calls.push(name)
    clocks.pass(seconds)
    return result
  }
  const store: Store = {
    put: async (...given) => slow('put', memory.put(...given)),
    take: async (key) => slow('take', memory.take(key)),
    revoke: async (...given) => slow('revoke', memory.revoke(...given))
  }
  /** Any two of them take too long together. */
  const late = <T>(result: T) => () => {
    clocks.pass(7)
    return result
  }
  const { url } = await startApp(t, { options: {
    storeTimeout: 10_000,
    store,
    portal: late(PORTAL),
    currentUser: late('ada'),
    portalEligibility: late(RECORDS.ada)
  } })
  const portal = wire(url)

  calls.length = 0
  t.equal((await portal.user(await portal.accessToken())).status, 200)
  t.strictSame(calls, ['put', 'take', 'put', 'take'], 'a sign-in has four store calls')

  const token = await portal.accessToken()
  calls.length = 0
  seconds = 11
  const code = await portal.code()
  t.equal((await portal.user(token)).status, 200)
  t.equal((await portal.token({ code })).status, 503)
  t.equal((await portal.token({ code })).status, 503, 'a replay is not revoked')
  t.strictSame(calls, ['put', 'take', 'take', 'take'])
})
