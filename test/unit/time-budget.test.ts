// All store calls of a request together take `storeTimeout` at most: a route gives each of them the same deadline, of
// its own request and no other.
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import t from 'tap'
import { Reporter } from '../../lib/events.ts'
import { AccessTokens } from '../../lib/grants/access-token.ts'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { routeOf } from '../../lib/http/endpoint.ts'
import { Parameters } from '../../lib/http/parameters.ts'
import { Portals } from '../../lib/portal.ts'
import { authorizeRoute } from '../../lib/routes/authorize.ts'
import { tokenRoute } from '../../lib/routes/token.ts'
import { userRoute } from '../../lib/routes/user.ts'
import type { TimedStore } from '../../lib/stores/store.ts'
import { PORTAL, recordOf } from '../helpers/host.ts'

const STORE_TIMEOUT = 5000

/** A store that writes down the deadline of each call. */
function recordingStore (): { store: TimedStore, deadlines: Array<[call: string, deadline: number]> } {
  const deadlines: Array<[string, number]> = []
  const values = new Map<string, string>()
  const store: TimedStore = {
    async put (key, value, _lifetime, deadline) {
      deadlines.push(['put', deadline])
      values.set(key, value)
      return true
    },
    async take (key, deadline) {
      deadlines.push(['take', deadline])
      const value = values.get(key) ?? null
      values.delete(key)
      return value
    },
    async revoke (key, _lifetime, deadline) {
      deadlines.push(['revoke', deadline])
      return values.delete(key)
    }
  }
  return { store, deadlines }
}

t.test('each request has one deadline for all of its store calls', async (t) => {
  const { store, deadlines } = recordingStore()
  const parts = {
    portals: new Portals([PORTAL], STORE_TIMEOUT, () => {}),
    reporter: new Reporter(),
    storeTimeout: STORE_TIMEOUT,
    codes: new AuthorizationCodes(store, new GrantKeys(''), 60),
    tokens: new AccessTokens(store, new GrantKeys(''), 60),
    currentUser: () => 'ada',
    portalEligibility: () => recordOf('ada')
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(formbody, { parser: (text) => new Parameters(text) as unknown as Record<string, unknown> })
  for (const route of [authorizeRoute, tokenRoute, userRoute]) app.route(routeOf(route(parts), {}))

  /** The calls of one request. All have a deadline between those that its begin and its end would give. */
  async function callsOf (request: () => Promise<unknown>): Promise<string[]> {
    const begin = performance.now()
    await request()
    const end = performance.now()
    const calls = deadlines.splice(0)
    t.equal(new Set(calls.map(([, deadline]) => deadline)).size, 1, 'one deadline')
    for (const [call, deadline] of calls) {
      t.ok(begin + STORE_TIMEOUT <= deadline && deadline <= end + STORE_TIMEOUT, `the deadline of ${call}`)
    }
    return calls.map(([call]) => call)
  }

  const query = { client_id: PORTAL.clientId, redirect_uri: PORTAL.redirectUri, response_type: 'code', state: 's' }
  let code = ''
  t.strictSame(await callsOf(async () => {
    const { headers } = await app.inject({ url: '/oauth/authorize', query })
    code = new URL(String(headers.location)).searchParams.get('code') as string
  }), ['put'])

  const redemption = () => app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      client_id: PORTAL.clientId,
      client_secret: PORTAL.clientSecret,
      redirect_uri: PORTAL.redirectUri,
      grant_type: 'authorization_code',
      code
    }).toString()
  })
  let authorization = ''
  t.strictSame(await callsOf(async () => {
    authorization = `Bearer ${(await redemption()).json().access_token}`
  }), ['take', 'put'])
  t.strictSame(await callsOf(redemption), ['take', 'revoke'])
  t.strictSame(await callsOf(() => app.inject({ url: '/oauth/user', headers: { authorization } })), ['take'])
})
