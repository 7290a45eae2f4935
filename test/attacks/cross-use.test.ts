// Someone presents another client's code or token with their own credentials: one portal's as another portal, though
// both share a redirect_uri, or one registration's at another that shares its Redis. It is refused, and stays good for
// its owner. A code as a token, and a token as a code: test/contract.
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { hostOptions, PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

t.test('two portals of one registration', async (t) => {
  const [live, test] = ['live', 'test'].map((id) => ({ ...PORTAL, clientId: id, clientSecret: `the secret of ${id}` }))
  if (live === undefined || test === undefined) return
  const other = { ...live, clientId: 'other', redirectUri: 'https://other.example/callback' }
  const { url, events } = await startHost(t, { portal: [live, test, other] })
  for (const [owner, thief] of [[live, test], [test, live], [live, other], [other, live]] as const) {
    const code = await wire(url, owner).code()
    const isShared = owner.redirectUri === thief.redirectUri
    for (const [changes, reason] of [
      [{}, 'code_unknown'],
      [{ redirect_uri: owner.redirectUri }, isShared ? 'code_unknown' : 'redirect_uri_mismatch'],
      [{ client_id: owner.clientId, client_secret: 'a guess' }, 'client_secret_wrong']
    ] as const) {
      await wire(url, thief).token({ code, ...changes })
      t.equal(events.at(-1)?.reason, reason, `${thief.clientId} with the code of ${owner.clientId}`)
    }
    const { access_token: token } = (await wire(url, owner).token({ code })).json
    t.strictSame((await wire(url, owner).user(token)).json, recordOf('alice'), `${owner.clientId} still redeems it`)
  }
})

t.test('registrations on one Redis', async (t) => {
  const { url: redis } = await startRedis(t)
  const portal = { ...PORTAL, clientSecret: 'another' }
  const registrations = await Promise.all([
    {}, { prefix: '/a' }, { prefix: '/b' }, { keyPrefix: '2:' }, { keyPrefix: '3:', portal }
  ].map(async (options) => {
    const { url, events } = await startHost(t, { redis, ...options })
    return { at: wire(url + (options.prefix ?? ''), options.portal), events, name: JSON.stringify(options) }
  }))
  for (const prefix of ['/c', '/d']) {
    const events: PartnerSsoEvent[] = []
    const options = { ...hostOptions(), redis, onEvent: (event: PartnerSsoEvent) => { events.push(event) } }
    const { url } = await startHost(t, {}, {
      finish: (app) => app.register(async (scope) => { await scope.register(partnerSso<User>, options) }, { prefix })
    })
    registrations.push({ at: wire(url + prefix), events, name: `a scope at ${prefix}` })
  }
  for (const home of registrations) {
    const code = await home.at.code()
    const token = await home.at.accessToken()
    for (const away of registrations) {
      if (away === home) continue
      await away.at.token({ code })
      await away.at.user(token)
      const reasons = away.events.slice(-2).map(({ reason }) => reason)
      t.strictSame(reasons, ['code_unknown', 'token_unknown'], `of ${home.name} at ${away.name}`)
    }
    t.equal((await home.at.token({ code })).status, 200, `the code of ${home.name} is still good`)
    t.equal((await home.at.user(token)).status, 200, `the token of ${home.name} is still good`)
  }
})
