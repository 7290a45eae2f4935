// GET /oauth/user: every answer of it.
import t from 'tap'
import { passTime } from '../helpers/clock.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('who sends no credentials is told how to, and no more', async (t) => {
  const { url, events } = await startHost(t)
  for (const headers of [{}, { authorization: 'Basic eA==' }, { authorization: 'Bearerx' }]) {
    const answer = await wire(url).user(undefined, headers)
    t.equal(answer.status, 401)
    t.equal(answer.headers.get('www-authenticate'), 'Bearer realm="partner-sso"')
    t.equal(answer.text, '')
    t.match(events.pop(), { type: 'request_rejected', reason: 'credentials_missing' })
  }
})

t.test('an unknown, used or expired token', async (t) => {
  const { url, events } = await startHost(t, { tokenLifetime: 3600 })
  const portal = wire(url)
  const used = await portal.accessToken()
  await portal.user(used)
  const expired = await portal.accessToken()
  passTime(t, 1800)
  const inTime = await portal.accessToken()
  passTime(t, 1800)
  for (const token of ['x', 'a.b.c==', 'A'.repeat(63), used, expired]) {
    const answer = await portal.user(token)
    t.equal(answer.status, 401)
    t.match(answer.headers.get('www-authenticate'),
      /^Bearer realm="partner-sso", error="invalid_token", error_description="[^"]+"$/)
    t.equal(answer.json.error, 'invalid_token')
    t.match(events.pop(), { type: 'request_rejected', reason: 'token_unknown' })
  }
  t.equal((await portal.user(inTime)).status, 200, 'half its lifetime later a token is still good')
})

t.test('a malformed header', async (t) => {
  const { url, events } = await startHost(t)
  for (const authorization of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer "x"', 'Bearer a,b', 'Bearer =']) {
    const answer = await wire(url).user(undefined, { authorization })
    t.equal(answer.status, 400, authorization)
    t.match(answer.headers.get('www-authenticate'), /error="invalid_request"/)
    t.equal(answer.json.error, 'invalid_request')
    t.match(events.pop(), { reason: 'authorization_malformed' })
  }
})

t.test('the token comes from the header only, its scheme in any case', async (t) => {
  const { url } = await startHost(t)
  const token = await wire(url).accessToken()
  t.equal((await fetch(`${url}/oauth/user?access_token=${token}`)).status, 401)
  t.equal((await wire(url).user(undefined, { authorization: `bEARER ${token}` })).status, 200)
})

t.test('the half of a token that the code yields opens nothing', async (t) => {
  const { url } = await startHost(t)
  const token = await wire(url).accessToken()
  t.equal((await wire(url).user(token.slice(0, 20) + 'A'.repeat(43))).status, 401)
})

t.test('the token of a portal that is no longer registered', async (t) => {
  const { MemoryStore } = await import('../../lib/stores/memory.ts')
  const store = new MemoryStore(10)
  const before = await startHost(t, { store })
  const token = await wire(before.url).accessToken()
  const after = await startHost(t, { store, portal: { ...PORTAL, clientId: 'another' } })
  t.equal((await wire(after.url).user(token)).status, 401)
})

t.test('the record is the one checked when the code was issued', async (t) => {
  let name = 'before'
  const { url } = await startHost(t, {
    portalEligibility: ({ id }) => ({ ...recordOf(id), name, unlisted: 1 }) as never
  })
  const token = await wire(url).accessToken()
  name = 'after'
  const answer = await wire(url).user(token)
  t.equal(answer.json.name, 'before')
  t.notOk('unlisted' in answer.json)
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.equal(answer.headers.get('pragma'), 'no-cache')
})

t.test('every kind of character arrives', async (t) => {
  const name = 'zoë "漢字" \u{1f600} \n \u2028 \\ </script> \ud800'
  const { url } = await startHost(t, {
    portalEligibility: ({ id }) => ({ ...recordOf(id), external_id: `${id}\n1`, name }) as never
  })
  const { json } = await wire(url).user(await wire(url).accessToken())
  t.equal(json.name, name)
  t.equal(json.external_id, 'alice\n1')
})

t.test('a store that is away: 503, and when to come again', async (t) => {
  const away = async (): Promise<never> => { throw new Error('away') }
  const { url } = await startHost(t, { store: { put: away, take: away, revoke: away } })
  const answer = await wire(url).user('A'.repeat(63))
  t.equal(answer.status, 503)
  t.equal(answer.headers.get('retry-after'), '1')
  t.equal(answer.json.error, 'temporarily_unavailable')
  t.notOk(answer.headers.has('www-authenticate'), 'nothing is wrong with the credentials')
  const refused = await wire(url).user('x')
  t.equal(refused.status, 401)
  t.notOk(refused.headers.has('retry-after'), 'for nothing else')
})
