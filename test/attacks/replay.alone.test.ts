// Someone has stolen a code or token, and redeems it at the same moment as the portal, or presents the used code again
// with the portal's credentials. Two hundred redemptions at once, spread over processes that share one Redis: one
// gets through at most, and each of the others is refused. And the portal must not keep a token that the code may have
// issued to someone else: when all is over, none is alive (RFC 6749 section 4.1.2). What is reported is tested in
// test/contract/checks/token.ts, and every order in test/interleavings.
import t from 'tap'
import { startAppProcess } from '../helpers/started.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../wire.ts'
import type { WireResponse, Wire } from '../wire.ts'

const { url: redis } = await startRedis(t)
// Processes on few cores: a redemption may have to wait for its turn, which is not what is tested here.
const hosts = await Promise.all([1, 2, 3].map(() => startAppProcess(t, { redis, storeTimeout: 30_000 })))
const wires = hosts.map(({ url }) => wire(url))
const portal = wires[0] as Wire

/** Codes that are tried until one of them gets a token. */
const MOST_CODES = 50

/** Two hundred redemptions: those that succeed. `refusals` gets what the others say. */
async function redeem (refusals: Set<string>, send: (wire: Wire) => Promise<WireResponse>): Promise<WireResponse[]> {
  const responses = await Promise.all(Array.from({ length: 200 }, (_, number) => send(wires[number % 3] as Wire)))
  const refused = responses.filter(({ status }) => status !== 200)
  for (const { status, json } of refused) refusals.add(`${status} ${json.error}`)
  return responses.filter(({ status }) => status === 200)
}

t.test('a code: one token at most, which is dead when all is over', async (t) => {
  const refusals = new Set<string>()
  let tokens: WireResponse[] = []
  // Where a replay revokes when the redemption has taken the code, and has not stored its token yet, the redemption is
  // refused as well: there is no token to look at, and another code is tried.
  for (let left = MOST_CODES; left > 0 && tokens.length === 0; left--) {
    const code = await portal.code()
    tokens = await redeem(refusals, (wire) => wire.token({ code }))
  }
  t.strictSame([...refusals], ['400 invalid_grant'])
  t.equal(tokens.length, 1, `one token, for one of ${MOST_CODES} codes`)
  t.equal((await portal.user(tokens[0]?.json.access_token)).status, 401, 'it was revoked')
})

t.test('an access token, which is for one use: one record', async (t) => {
  const refusals = new Set<string>()
  const token = await portal.accessToken()
  t.equal((await redeem(refusals, (wire) => wire.user(token))).length, 1)
  t.strictSame([...refusals], ['401 invalid_token'])
})
