// Someone has stolen a code or token, and redeems it at the same moment as the portal, or presents the used code again
// with the portal's credentials. Two hundred redemptions at once, spread over processes that share one Redis: exactly
// one gets through, and each of the others is refused. And the portal must not keep a token that the code may have
// issued to someone else: when all is over, none is alive (RFC 6749 section 4.1.2). What is reported:
// contract/checks/token. Every order: interleavings.
import t from 'tap'
import { startAppProcess } from '../helpers/started.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../wire.ts'
import type { WireResponse, Wire } from '../wire.ts'

const { url: redis } = await startRedis(t)
// Processes on few cores: a redemption may have to wait for its turn, which is not what is tested here.
const hosts = await Promise.all([1, 2, 3].map(() => startAppProcess(t, { redis, storeTimeout: 30_000 })))
const portals = hosts.map(({ url }) => wire(url))
const portal = portals[0] as Wire

/** Codes that are tried until one of them gets a token. */
const MOST_CODES = 50

/** Two hundred redemptions: those that succeed. `refusals` gets what the others say. */
async function redeem (refusals: Set<string>, at: (at: Wire) => Promise<WireResponse>): Promise<WireResponse[]> {
  const responses = await Promise.all(Array.from({ length: 200 }, (_, number) => at(portals[number % 3] as Wire)))
  const refused = responses.filter(({ status }) => status !== 200)
  for (const { status, json } of refused) refusals.add(`${status} ${json.error}`)
  return responses.filter(({ status }) => status === 200)
}

t.test('a code: one token at most, which is dead when all is over', async (t) => {
  const refusals = new Set<string>()
  let tokens: WireResponse[] = []
  // A replay that overtakes the redemption on its way from the code to the token leaves no token at all. A busy machine
  // can let the replay win several times: then another code is tried.
  for (let left = MOST_CODES; left > 0 && tokens.length === 0; left--) {
    const code = await portal.code()
    tokens = await redeem(refusals, (at) => at.token({ code }))
  }
  t.strictSame([...refusals], ['400 invalid_grant'])
  t.equal(tokens.length, 1, `one token, for one of ${MOST_CODES} codes`)
  t.equal((await portal.user(tokens[0]?.json.access_token)).status, 401, 'it was revoked')
})

t.test('a token: one record', async (t) => {
  const refusals = new Set<string>()
  const token = await portal.accessToken()
  t.equal((await redeem(refusals, (at) => at.user(token))).length, 1)
  t.strictSame([...refusals], ['401 invalid_token'])
})
