// Someone wears the service down: bodies without end, a hundred thousand parameters, percent signs that cannot be decoded,
// headers that make a parser think, bytes that come one by one, connections that break off. Each costs little time, and a
// portal is answered meanwhile.
import { type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { request, say, tokenRequest } from './helpers/raw.ts'

/** Far above what it takes, and far below what it took before each of these was limited. */
const MOST = 300

await t.test('big bodies', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  for (const [name, body] of Object.entries({
    'a megabyte of parameters': 'a&'.repeat(500_000),
    'as many that differ': Array.from({ length: 150_000 }, (_, index) => index.toString(36)).join('&'),
    'a quarter of a million broken escapes': '%zz&'.repeat(250_000),
    'as many that are no UTF-8': '%ff&'.repeat(250_000),
    'one long value': `code=${'a'.repeat(1_000_000)}`,
    'nothing but percent signs': '%'.repeat(1_000_000),
    'nothing but plus signs': '+'.repeat(1_000_000),
    'what just fits': '%ff&'.repeat(4096)
  })) {
    const before = performance.now()
    const { statuses } = await say(url, tokenRequest(body))
    const took = performance.now() - before
    t.strictSame(statuses, [400], name)
    t.equal(events.at(-1)?.reason, 'body_unreadable')
    t.ok(took < MOST, `${name}: ${took.toFixed()} ms`)
  }
  const chunk = `1000\r\n${'a'.repeat(0x1000)}\r\n`
  const endless = await say(url, [tokenRequest('', ['Transfer-Encoding: chunked']), ...Array.from({ length: 100 }, () => chunk)])
  t.strictSame(endless.statuses, [400], 'a body without end')
  t.ok(endless.closed)
  t.equal((await portal.user(await portal.accessToken())).status, 200)
})

await t.test('a host can allow more, or less', async (t) => {
  const { url } = await startHost(t, { routeOptions: { bodyLimit: 100 } })
  const { statuses } = await say(url, tokenRequest(`code=${'a'.repeat(100)}`))
  t.strictSame(statuses, [400])
  const wide = await startHost(t, { routeOptions: { bodyLimit: 100_000 } })
  const portal = wire(wide.url)
  t.equal((await portal.token({ code: await portal.code(), padding: 'a'.repeat(90_000) })).status, 200)
})

await t.test('big queries and headers', async (t) => {
  const { url, events } = await startHost(t)
  const good = `client_id=${PORTAL.clientId}&redirect_uri=${encodeURIComponent(PORTAL.redirectUri)}&response_type=code`
  for (const [name, query, headers, status, reason] of [
    ['parameters', `${good}&state=s&${'a&'.repeat(7000)}`, [], 302, 'parameter_repeated'],
    ['broken escapes', `${good}&state=s&${Array.from({ length: 2500 }, (_, index) => `${index.toString(36)}%zz`).join('&')}`, [], 302, 'ok'],
    ['a state', `${good}&state=${'"'.repeat(15_000)}`, [], 302, 'ok'],
    ['commas in Accept', '', [`Accept: "${','.repeat(15_000)}`], 400, 'client_id_missing'],
    ['types in Accept', '', [`Accept: ${'a/b,'.repeat(3700)}`], 400, 'client_id_missing'],
    ['parameters in Accept', '', [`Accept: a/b;${';'.repeat(14_000)}"`], 400, 'client_id_missing'],
    ['equal signs in Accept', '', [`Accept: text/html;${'q='.repeat(7000)}`], 400, 'client_id_missing'],
    ['a bearer', '', [`Authorization: Bearer ${'a'.repeat(15_000)}=`], 400, 'client_id_missing'],
    ['spaces', '', [`Authorization: Bearer ${' '.repeat(15_000)}!`], 400, 'client_id_missing']
  ] as const) {
    const before = performance.now()
    const { statuses } = await say(url, request(`GET /oauth/authorize?${query}`, ['X-User: alice', ...headers]))
    const took = performance.now() - before
    t.strictSame(statuses, [status], name)
    t.equal(events.at(-1)?.reason, reason, name)
    t.ok(took < MOST, `${name}: ${took.toFixed()} ms`)
  }
  for (const [spaces, ...reasons] of [
    [`Bearer ${' '.repeat(15_000)}!`, 'authorization_malformed', 'client_id_missing'], [`Bearer ${'a='.repeat(7000)}`, 'authorization_malformed', 'client_id_missing'],
    [`Basic ${' '.repeat(15_000)}!`, 'credentials_missing', 'authentication_malformed'], [`Basic ${'='.repeat(15_000)}`, 'credentials_missing', 'authentication_malformed']
  ] as const) {
    const before = performance.now()
    const user = await say(url, request('GET /oauth/user', [`Authorization: ${spaces}`]))
    const token = await say(url, tokenRequest('code=x&grant_type=authorization_code&redirect_uri=x', [`Authorization: ${spaces}`]))
    t.ok(performance.now() - before < 2 * MOST)
    t.ok([...user.statuses, ...token.statuses].every((status) => [400, 401].includes(status)))
    t.strictSame(events.slice(-2).map(({ reason }) => reason), reasons)
  }
  const { statuses } = await say(url, request(`GET /oauth/authorize?state=${'a'.repeat(20_000)}`))
  t.strictSame(statuses, [431], 'past the limit of Node')
})

await t.test('a state of the greatest length comes back whole', async (t) => {
  const { url } = await startHost(t)
  const state = 'é☃'.repeat(900)
  t.equal((await wire(url).authorize({ state })).redirect.get('state'), state)
})

await t.test('slow and broken connections', async (t) => {
  const { url, events } = await startHost(t, {}, { server: { requestTimeout: 400, http: { headersTimeout: 300, connectionsCheckingInterval: 100 } } as FastifyServerOptions })
  const portal = wire(url)
  const code = await portal.code()
  const whole = tokenRequest(new URLSearchParams({ client_id: PORTAL.clientId, client_secret: PORTAL.clientSecret, redirect_uri: PORTAL.redirectUri, grant_type: 'authorization_code', code }).toString())
  const slow = Promise.all([
    // Says a byte now and then, and never comes to an end.
    say(url, [...whole.slice(0, 40)], { pause: 50, patience: 4000 }),
    say(url, [whole.slice(0, -10), ...whole.slice(-10)], { pause: 200, patience: 4000 }),
    say(url, '', { patience: 1000 })
  ])
  t.equal((await portal.user(await portal.accessToken())).status, 200, 'a portal is answered meanwhile')
  const [byteByByte, body] = await slow
  t.ok(byteByByte.closed && body.closed, 'where the host sets requestTimeout, the server hangs up')
  t.ok([...byteByByte.statuses, ...body.statuses].every((status) => status === 408), [...byteByByte.statuses, ...body.statuses].join())

  for (const length of [1, 20, whole.indexOf('\r\n\r\n') + 2, whole.length - 70, whole.length - 1]) {
    const { closed } = await say(url, whole.slice(0, length), { end: true, patience: 3000 })
    t.ok(closed, `broken off after ${length} bytes`)
  }
  // Sends all of it and hangs up before the answer: the code may be used up, and the process lives.
  await Promise.all(Array.from({ length: 20 }, async () => await say(url, whole, { patience: 1 })))
  t.ok(events.every(({ reason }) => reason !== 'internal_error'))
  t.equal((await portal.user(await portal.accessToken())).status, 200, 'and a user can sign in')
})
