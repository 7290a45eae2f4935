// A stolen code or token is redeemed by the thief at the same moment as by the portal: 200 redemptions at once, spread
// over several processes that share one Redis. Exactly one gets through, and each of the others is refused and
// reported. Many rounds: SINGLE_USE_ROUNDS=1000.
// Alone: it starts processes.
import t from 'tap'
import { PORTAL } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import { client } from './helpers/client.ts'
import type { Reply } from './helpers/client.ts'
import { allReasons, startProcesses } from './helpers/processes.ts'
import { rounds } from './helpers/settings.ts'

const ROUNDS = rounds('SINGLE_USE_ROUNDS', 3)
const AT_ONCE = 200

await t.test(`${ROUNDS} rounds of ${AT_ONCE} redemptions at once, in three processes`, async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  // Three processes on few cores: a redemption may have to wait for its turn, which is not what is tested here.
  const hosts = await startProcesses(t, 3, { redis, keyPrefix, storeTimeout: 30_000 })
  const thieves = client()
  t.teardown(() => thieves.close())
  const [first] = hosts.map(({ url }) => wire(url))
  const url = (number: number) => hosts[number % hosts.length]?.url as string
  const everywhere = <T>(redeem: (url: string) => Promise<T>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, number) => redeem(url(number))))

  // A replay that overtakes the redemption on its way from the code to the token leaves no token at all (RFC 6749
  // section 4.1.2), so that a code may have no success; it never has two.
  const successes = { code: [0, 0], token: [0, 0] }
  const refusals = new Set<string>()
  const count = (kind: 'code' | 'token', answers: Reply[]) => {
    const good = answers.filter(({ status }) => status === 200).length
    successes[kind][good] = (successes[kind][good] ?? 0) + 1
    for (const { status, text } of answers) {
      if (status !== 200) refusals.add(`${kind} ${status} ${JSON.parse(text).error}`)
    }
  }
  // A busy machine can let the replay win in all of a few rounds: then it goes on until a code has yielded a token.
  let rounds = 0
  for (; rounds < ROUNDS || successes.code[1] === 0; rounds++) {
    const code = await first?.code() as string
    const form = new URLSearchParams({
      client_id: PORTAL.clientId,
      client_secret: PORTAL.clientSecret,
      redirect_uri: PORTAL.redirectUri,
      grant_type: 'authorization_code',
      code
    })
    count('code', await everywhere((url) => thieves.token(url, form.toString())))
    const token = await first?.accessToken() as string
    count('token', await everywhere((url) => thieves.user(url, token)))
  }

  const [none = 0, one = 0] = successes.code
  t.comment(
    `code: one success in ${one} of ${rounds} rounds, none in ${none}; token: one success in ${successes.token[1]}`
  )
  t.equal(none + one, rounds, 'no code yielded two tokens')
  t.ok(one > 0, 'and codes do yield tokens')
  t.strictSame(successes.token, [0, rounds], 'each token let in exactly one')
  t.strictSame([...refusals].sort(), ['code 400 invalid_grant', 'token 401 invalid_token'])
  const reasons = await allReasons(hosts)
  // A replay is known as one where the token is alive, and where it has prevented the token.
  t.equal(reasons['code_replayed code_replayed'], rounds, 'one replay of each code is reported as one')
  t.equal(reasons['request_rejected code_unknown'], rounds * (AT_ONCE - 1) - one, 'the others find nothing')
  t.equal(reasons['request_rejected token_unknown'], rounds * (AT_ONCE - 1))
})
