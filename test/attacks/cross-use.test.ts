// Someone presents another client's code or token with their own credentials: one portal's as another portal, or one
// registration's at another that shares its Redis. It is refused, and stays good for its owner. A code as a token, and
// a token as a code: test/contract.
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { hostOptions, PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

t.test('two portals of one registration, with the same redirect_uri', async (t) => {
  const [owner, thief] = [{ ...PORTAL, clientSecret: 'live' }, { ...PORTAL, clientId: 'test', clientSecret: 'test' }]
  const { url, events } = await startHost(t, { portal: [owner, thief] })
  const code = await wire(url, owner).code()
  await wire(url, thief).token({ code })
  t.equal(events.at(-1)?.reason, 'code_unknown')
  const { access_token: token } = (await wire(url, owner).token({ code })).json
  t.strictSame((await wire(url, owner).user(token)).json, recordOf('alice'), 'its owner still redeems it')
})

t.test('registrations on one Redis', async (t) => {
  const { url: redis } = await startRedis(t)
  const registrations: Array<{ name: string, at: ReturnType<typeof wire>, events: PartnerSsoEvent[] }> = []
  for (const options of [{}, { prefix: '/a' }, { keyPrefix: '2:' }]) {
    const { url, events } = await startHost(t, { redis, ...options })
    registrations.push({ name: JSON.stringify(options), at: wire(url + (options.prefix ?? '')), events })
  }
  for (const prefix of ['/c', '/d']) {
    const events: PartnerSsoEvent[] = []
    const options = hostOptions({ redis, onEvent: (event) => { events.push(event) } })
    const { url } = await startHost(t, {}, {
      finish: (app) => app.register(async (scope) => { await scope.register(partnerSso<User>, options) }, { prefix })
    })
    registrations.push({ name: `a scope at ${prefix}`, at: wire(url + prefix), events })
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
