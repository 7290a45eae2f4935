// The routes under a prefix, and several registrations in one app.
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import partnerSso from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isRefused } from '../contract/replies.ts'
import { hostOptions, PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { someRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'

t.test('a prefix', async (t) => {
  const { url } = await startHost(t, { prefix: '/sso/v1', loginPage: '/login' })
  await keepsContract(t, wire(`${url}/sso/v1`))
  t.equal((await wire(url).authorize()).status, 404)
  const { headers } = await wire(`${url}/sso/v1`).authorize({}, null)
  t.match(headers.get('location'), /^\/login\?return_to=%2Fsso%2Fv1%2Foauth%2Fauthorize%3F/)
})

t.test('a scope of the host with a prefix of its own', async (t) => {
  const { url } = await startHost(t, {}, {
    async finish (app) {
      const inner = hostOptions({ prefix: '/inner' })
      await app.register(async (scope) => await scope.register(partnerSso<User>, inner), { prefix: '/outer' })
    }
  })
  await keepsContract(t, wire(`${url}/outer/inner`))
  await keepsContract(t, wire(url))
})

t.test('two registrations', async (t) => {
  // The same portal and the same store, which is as close as two can get.
  const { url: redis, keyPrefix } = await someRedis(t)
  const portalEligibility = ({ id }: User) => id === 'bob' ? null : recordOf(id)
  const second = hostOptions({ prefix: '/live', redis, keyPrefix, portalEligibility })
  const { url } = await startHost(t, { prefix: '/test', redis, keyPrefix }, {
    finish: (app: FastifyInstance) => app.register(partnerSso<User>, second)
  })
  const [test, live] = [wire(`${url}/test`), wire(`${url}/live`)]
  await keepsContract(t, test)
  await keepsContract(t, live)
  t.equal((await live.authorize({}, 'bob')).redirect.get('error'), 'access_denied', 'each has its own hooks')
  t.ok(await test.code('bob'))

  const code = await test.code()
  isRefused(t, await live.token({ code }), 400, 'invalid_grant', 'The code is unknown, used or expired.')
  const token = (await test.token({ code })).json.access_token
  isRefused(t, await live.user(token), 401, 'invalid_token', 'The access token is unknown, used or expired.')
  t.equal((await test.user(token)).status, 200, 'a token of one is unknown at the other, and stays good')
})

t.test('two portals of one registration', async (t) => {
  const live = { ...PORTAL, clientId: 'live', clientSecret: 'another', redirectUri: 'https://live.example/callback' }
  const { url } = await startHost(t, { portal: [PORTAL, live] })
  await keepsContract(t, wire(url))
  const code = await wire(url, live).code()
  isRefused(t, await wire(url).token({ code }), 400, 'invalid_grant', 'The code is unknown, used or expired.')
  t.equal((await wire(url, live).token({ code })).status, 200)
})
