// Someone has stolen a code or token, and redeems it at the same moment as the portal, or presents the used code again
// with the portal's credentials. Two hundred redemptions at once, spread over processes that share one Redis: exactly
// one gets through, and each of the others is refused. And the portal must not keep a token that the code may have
// issued to someone else: when all is over, none is alive (RFC 6749 section 4.1.2). Many rounds: REPLAY_ROUNDS=2000.
// What is reported: contract/checks/token.
import t from 'tap'
import { startHostProcess } from '../helpers/fork-host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import type { WireResponse, Wire } from '../helpers/wire.ts'

const ROUNDS = Number(process.env.REPLAY_ROUNDS ?? 10)

const { url: redis, keyPrefix } = await someRedis(t)
// Processes on few cores: a redemption may have to wait for its turn, which is not what is tested here.
const hosts = await Promise.all([1, 2, 3].map(() => startHostProcess(t, { redis, keyPrefix, storeTimeout: 30_000 })))
const portals = hosts.map(({ url }) => wire(url))
const portal = portals[0] as Wire

/** The requests of several portals at once, at one process after the other. */
const atOnce = async (count: number, redeem: (at: Wire) => Promise<WireResponse>): Promise<WireResponse[]> =>
  await Promise.all(Array.from({ length: count }, (_, number) => redeem(portals[number % portals.length] as Wire)))

const good = (responses: WireResponse[]): WireResponse[] => responses.filter(({ status }) => status === 200)

t.test('two hundred redemptions at once', async (t) => {
  const redeem = async (redeem: (at: Wire) => Promise<WireResponse>, error: string): Promise<number> => {
    const responses = await atOnce(200, redeem)
    const refused = responses.filter(({ status }) => status !== 200)
    t.strictSame([...new Set(refused.map(({ status, json }) => `${status} ${json.error}`))], [error], error)
    return good(responses).length
  }
  // A replay that overtakes the redemption on its way from the code to the token leaves no token at all, so that a code
  // may have no success; it never has two. A busy machine can let the replay win several times: then it goes on until a
  // code has issued a token.
  for (let issued = 0; issued === 0;) {
    const code = await portal.code()
    issued = await redeem((at) => at.token({ code }), '400 invalid_grant')
    t.ok(issued <= 1, `${issued} tokens for one code`)
  }
  const token = await portal.accessToken()
  t.equal(await redeem((at) => at.user(token), '401 invalid_token'), 1, 'one record for a token')
})

t.test('when all is over, no token of a replayed code is alive', async (t) => {
  let issued = 0
  for (let round = 0; round < ROUNDS; round++) {
    const code = await portal.code()
    const redeem = (at: Wire) => at.token({ code })
    const isLater = round % 2 === 0
    const first = isLater ? [await redeem(portal)] : []
    const tokens = good([...first, ...await atOnce(isLater ? 1 : 2 + round % 4, redeem)])
    t.ok(tokens.length <= 1, `round ${round}: ${tokens.length} tokens`)
    for (const { json } of tokens) t.equal((await portal.user(json.access_token)).status, 401, `round ${round}`)
    issued += tokens.length
  }
  t.ok(issued >= ROUNDS / 2)
})
