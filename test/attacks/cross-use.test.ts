// Someone presents what is theirs at the wrong place, or what is another's with their own credentials: a code as a
// token, a token as a code, one portal's code as another portal, one registration's code at another that shares its
// Redis. It is refused, and nothing is used up that belongs to someone else.
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import { CODE, LOCATOR, TOKEN } from './helpers/settings.ts'

const LIVE = { ...PORTAL, clientId: 'live', clientSecret: 'the secret of live' }
const TEST = { ...PORTAL, clientId: 'test', clientSecret: 'the secret of test' }
const OTHER = {
  ...PORTAL,
  clientId: 'other',
  clientSecret: 'the secret of other',
  redirectUri: 'https://other.example/callback'
}

const lastReason = (events: PartnerSsoEvent[]) => events.at(-1)?.reason

await t.test('code and token at each other\'s endpoint', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const bearers = [
    code, code + code, code.slice(0, TOKEN - CODE) + code, `${code}=`, encodeURIComponent(code), code.slice(1)
  ]
  for (const bearer of bearers) {
    t.equal((await portal.user(bearer)).status, 401)
    t.equal(lastReason(events), 'token_unknown')
  }
  const { json: { access_token: token } } = await portal.token({ code })
  const codes = [
    [token, 'code_malformed'],
    [token.slice(0, LOCATOR), 'code_malformed'],
    [token.slice(LOCATOR), 'code_malformed'],
    [token.slice(-CODE), 'code_unknown'],
    [token.slice(0, CODE), 'code_unknown']
  ]
  for (const [value, reason] of codes) {
    t.equal((await portal.token({ code: value })).status, 400)
    t.equal(lastReason(events), reason)
  }
  t.strictSame((await portal.user(token)).json, recordOf('alice'), 'both were good where they belong')
})

await t.test('two portals of one registration', async (t) => {
  const { url, events } = await startHost(t, { portal: [LIVE, TEST, OTHER] })
  for (const [owner, thief] of [[LIVE, TEST], [TEST, LIVE], [LIVE, OTHER], [OTHER, LIVE]] as const) {
    const code = await wire(url, owner).code()
    const stolen = async (changes: Record<string, string>, status: number, reason: string) => {
      const answer = await wire(url, thief).token({ code, ...changes })
      t.equal(answer.status, status, `${thief.clientId} with the code of ${owner.clientId}`)
      t.equal(lastReason(events), reason)
    }
    await stolen({}, 400, 'code_unknown')
    const isShared = owner.redirectUri === thief.redirectUri
    const atOwn = isShared ? 'code_unknown' : 'redirect_uri_mismatch'
    await stolen({ redirect_uri: owner.redirectUri }, 400, atOwn)
    await stolen({ client_id: owner.clientId }, 401, 'client_secret_wrong')
    await stolen({ client_secret: owner.clientSecret }, 401, 'client_secret_wrong')
    const { status } = await wire(url, owner).authorize({ client_id: thief.clientId })
    t.equal(status, isShared ? 302 : 400)
    const { json } = await wire(url, owner).token({ code })
    t.strictSame((await wire(url, owner).user(json.access_token)).json, recordOf('alice'), 'its owner still redeems it')
  }
})

await t.test('two registrations on one Redis', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  const hosts = {
    plain: await startHost(t, { redis, keyPrefix }),
    prefixed: await startHost(t, { redis, keyPrefix, prefix: '/a' }),
    otherPrefix: await startHost(t, { redis, keyPrefix, prefix: '/b' }),
    otherKeys: await startHost(t, { redis, keyPrefix: `${keyPrefix}2:` }),
    otherSecret: await startHost(t, {
      redis,
      keyPrefix: `${keyPrefix}3:`,
      portal: { ...PORTAL, clientSecret: 'another' }
    })
  }
  const portals = {
    plain: wire(hosts.plain.url),
    prefixed: wire(`${hosts.prefixed.url}/a`),
    otherPrefix: wire(`${hosts.otherPrefix.url}/b`),
    otherKeys: wire(hosts.otherKeys.url),
    otherSecret: wire(hosts.otherSecret.url, { ...PORTAL, clientSecret: 'another' })
  }
  for (const home of Object.keys(portals) as Array<keyof typeof portals>) {
    const code = await portals[home].code()
    const token = await portals[home].accessToken()
    for (const away of Object.keys(portals) as Array<keyof typeof portals>) {
      if (away === home) continue
      t.equal((await portals[away].token({ code })).status, 400, `a code of ${home} at ${away}`)
      t.equal(lastReason(hosts[away].events), 'code_unknown')
      t.equal((await portals[away].user(token)).status, 401, `a token of ${home} at ${away}`)
      t.equal(lastReason(hosts[away].events), 'token_unknown')
    }
    t.equal((await portals[home].token({ code })).status, 200, `the code is still good at ${home}`)
    t.equal((await portals[home].user(token)).status, 200, `the token is still good at ${home}`)
  }
})

await t.test('a redirect_uri that was changed in between: old codes are no good at the new one', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  const before = await startHost(t, { redis, keyPrefix })
  const after = await startHost(t, { redis, keyPrefix, portal: { ...PORTAL, redirectUri: OTHER.redirectUri } })
  const code = await wire(before.url).code()
  t.equal((await wire(after.url, { ...PORTAL, redirectUri: OTHER.redirectUri }).token({ code })).status, 400)
  t.equal(lastReason(after.events), 'code_unknown')
  t.equal((await wire(before.url).token({ code })).status, 400, 'and are used up by the attempt')
})

await t.test('a portal that was taken out keeps no live token', async (t) => {
  const { url: redis, keyPrefix } = await someRedis(t)
  const before = await startHost(t, { redis, keyPrefix, portal: [LIVE, TEST] })
  const after = await startHost(t, { redis, keyPrefix, portal: [LIVE] })
  const token = await wire(before.url, TEST).accessToken()
  t.equal((await wire(after.url, LIVE).user(token)).status, 401)
  t.equal(lastReason(after.events), 'token_unknown')
})

await t.test('code injection: a stolen code in another user\'s session, with PKCE', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const verifiers = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')] as const
  const challenge = (verifier: string) => ({
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256'
  })
  const [victim, thief] = [challenge(verifiers[0]), challenge(verifiers[1])]
  const stolen = await portal.code('victim', victim)
  await portal.code('thief', thief)
  t.equal((await portal.token({ code: stolen, code_verifier: verifiers[1] })).status, 400)
  t.equal(lastReason(events), 'code_verifier_mismatch')
  const downgraded = await portal.token({ code: await portal.code('victim', victim) })
  t.equal(downgraded.status, 400, 'PKCE downgrade: the verifier left out')
  t.equal(lastReason(events), 'code_verifier_missing')
  const stripped = await portal.token({ code: await portal.code('victim'), code_verifier: verifiers[0] })
  t.equal(stripped.status, 400, 'PKCE downgrade: the challenge removed from the authorization request')
  t.equal(lastReason(events), 'code_verifier_unexpected')
})

await t.test('who has seen a code cannot make its token', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const code = await portal.code()
  const { json: { access_token: token } } = await portal.token({ code })
  // A residual risk of .github/SECURITY.md: the locator is derived from the code, and a made-up sealing key cancels the
  // sign-in.
  const made = token.slice(0, LOCATOR) + randomBytes(32).toString('base64url')
  t.equal((await portal.user(made)).status, 401, 'it opens nothing')
  t.equal(lastReason(events), 'token_unknown')
  t.equal((await portal.user(token)).status, 401, 'and the sign-in starts again')
})
