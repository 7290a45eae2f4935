// Someone who has got hold of a used code, and of the portal's credentials, presents it again: after the portal has its
// token, or at the same moment. The portal must not keep a token that a stolen code may have yielded to someone else:
// when all is over, no token of that code is alive (RFC 6749 section 4.1.2). Many rounds: REPLAY_ROUNDS=2000.
// Alone: it starts processes.
import t from 'tap'
import type { Test } from 'tap'
import { PORTAL } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import { client } from './helpers/client.ts'
import { startProcesses } from './helpers/processes.ts'
import { rounds } from './helpers/settings.ts'

const ROUNDS = rounds('REPLAY_ROUNDS', 30)

const formOf = (code: string) =>
  new URLSearchParams({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code
  }).toString()

async function replay (t: Test, urls: string[]): Promise<void> {
  const caller = client()
  t.teardown(() => caller.close())
  const portal = wire(urls[0] as string)
  const url = (number: number) => urls[number % urls.length] as string
  const tokenOf = ({ status, text }: { status: number; text: string }): string[] =>
    status === 200 ? [JSON.parse(text).access_token] : []

  let live = 0
  let yielded = 0
  for (let round = 0; round < ROUNDS; round++) {
    const form = formOf(await portal.code())
    const [token] = tokenOf(await caller.token(url(round), form))
    const replayed = await caller.token(url(round + 1), form)
    if (replayed.status === 200 || token === undefined) t.fail('a used code yielded a token')
    live += Number((await caller.user(url(round), token as string)).status === 200)
  }
  t.equal(live, 0, `one after the other: ${live} live tokens in ${ROUNDS} rounds`)

  live = 0
  for (let round = 0; round < ROUNDS; round++) {
    const form = formOf(await portal.code())
    const answers = await Promise.all(
      Array.from({ length: 2 + (round % 4) }, (_, number) => caller.token(url(number), form))
    )
    const tokens = answers.flatMap(tokenOf)
    yielded += tokens.length
    if (tokens.length > 1) t.fail('a code yielded two tokens')
    for (const token of tokens) live += Number((await caller.user(url(round), token)).status === 200)
  }
  t.equal(live, 0, `at the same time: ${live} live tokens in ${ROUNDS} rounds (${yielded} were issued, and revoked)`)
}

await t.test('on Redis, in two processes', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  const hosts = await startProcesses(t, 2, { redis, keyPrefix, storeTimeout: 30_000 })
  await replay(t, hosts.map(({ url }) => url))
})
