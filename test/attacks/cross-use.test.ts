// Someone presents what is another client's with their own credentials: one portal's code as another portal, or one
// registration's code or token at another that shares its Redis. It is refused, and stays good for its owner. A code
// as a token, and a token as a code: test/contract.
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { pluginOptions, PORTAL, RECORDS, startApp } from '../app.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../wire.ts'

t.test('two portals of one registration, with the same redirect_uri', async (t) => {
  const owner = { ...PORTAL, clientSecret: 'live' }
  const thief = { ...PORTAL, clientId: 'test', clientSecret: 'test' }
  const { url, events } = await startApp(t, { options: { portal: [owner, thief] } })
  const code = await wire(url, owner).code()
  await wire(url, thief).token({ code })
  t.equal(events.at(-1)?.reason, 'code_unknown')
  const { access_token: token } = (await wire(url, owner).token({ code })).json
  t.strictSame((await wire(url, owner).user(token)).json, RECORDS.ada, 'its owner still redeems it')
})

t.test('registrations on one Redis', async (t) => {
  const { url: redis } = await startRedis(t)
  const scope = '/scope'
  const { url } = await startApp(t, {
    options: { redis },
    async finish (app) {
      await app.register(partnerSso, pluginOptions({ redis, prefix: '/prefix' }))
      await app.register(async (app) => { await app.register(partnerSso, pluginOptions({ redis })) }, { prefix: scope })
    }
  })
  const { url: other } = await startApp(t, { options: { redis, keyPrefix: 'other:' } })
  const bases = [url, `${url}/prefix`, url + scope, other]
  for (const base of bases) {
    const home = wire(base)
    const [code, token] = [await home.code(), await home.accessToken()]
    for (const elsewhere of bases.filter((one) => one !== base)) {
      const away = wire(elsewhere)
      t.equal((await away.token({ code })).json.error, 'invalid_grant', `of ${base} at ${elsewhere}`)
      t.equal((await away.user(token)).json.error, 'invalid_token', `of ${base} at ${elsewhere}`)
    }
    t.equal((await home.token({ code })).status, 200, `the code of ${base} is still good`)
    t.equal((await home.user(token)).status, 200, `the token of ${base} is still good`)
  }
})
