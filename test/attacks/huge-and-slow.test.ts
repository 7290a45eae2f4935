// Someone wears the service down: bodies without end, a hundred thousand parameters, percent signs that cannot be
// decoded, headers that make a parser think, bytes that come one by one, connections that break off. Each costs little
// time, and a portal is answered meanwhile.
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import { request, say, tokenRequest } from './helpers/raw.ts'
import { CODE } from './helpers/settings.ts'

/** Milliseconds of processor time: far above what each takes, and far below what it took before each was limited. */
const MOST = 300

/**
 * Milliseconds of processor time that an action takes at its best. Other processes do not count, and what happens in
 * this one by chance (a garbage collection, a compilation) does not happen ten times: what is slow stays slow.
 */
async function costOf (action: () => Promise<void>): Promise<number> {
  let best = Infinity
  for (let attempt = 0; attempt < 10 && best >= MOST; attempt++) {
    const before = process.cpuUsage()
    await action()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/** Whether a user can sign in. The short time limits of a test may end a sign-in on a busy machine: it tries again. */
async function signsIn (url: string): Promise<boolean> {
  const portal = wire(url)
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await portal.accessToken().then((token) => portal.user(token)).catch(() => null)
    if (answer?.status === 200) return true
  }
  return false
}

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
    const cost = await costOf(async () => {
      const { statuses } = await say(url, tokenRequest(body))
      t.strictSame(statuses, [400], name)
      t.equal(events.at(-1)?.reason, 'body_unreadable')
    })
    t.ok(cost < MOST, `${name}: ${cost.toFixed()} ms`)
  }
  const chunk = `1000\r\n${'a'.repeat(0x1000)}\r\n`
  const chunks = Array.from({ length: 100 }, () => chunk)
  const endless = await say(url, [tokenRequest('', ['Transfer-Encoding: chunked']), ...chunks])
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
  const broken = (length: number) => Array.from({ length }, (_, index) => `${index.toString(36)}%zz`).join('&')
  for (const [name, query, headers, status, reason] of [
    ['parameters', `${good}&state=s&${'a&'.repeat(900)}`, [], 302, 'parameter_repeated'],
    ['too many parameters', `${good}&state=s&${'a&'.repeat(7000)}`, [], 400, 'parameters_excessive'],
    ['broken escapes', `${good}&state=s&${broken(900)}`, [], 302, 'ok'],
    ['too many broken escapes', `${good}&state=s&${broken(2500)}`, [], 400, 'parameters_excessive'],
    ['a state', `${good}&state=${'"'.repeat(15_000)}`, [], 302, 'ok'],
    ['commas in Accept', '', [`Accept: "${','.repeat(15_000)}`], 400, 'client_id_missing'],
    ['types in Accept', '', [`Accept: ${'a/b,'.repeat(3700)}`], 400, 'client_id_missing'],
    ['parameters in Accept', '', [`Accept: a/b;${';'.repeat(14_000)}"`], 400, 'client_id_missing'],
    ['equal signs in Accept', '', [`Accept: text/html;${'q='.repeat(7000)}`], 400, 'client_id_missing'],
    ['a bearer', '', [`Authorization: Bearer ${'a'.repeat(15_000)}=`], 400, 'client_id_missing'],
    ['spaces', '', [`Authorization: Bearer ${' '.repeat(15_000)}!`], 400, 'client_id_missing']
  ] as const) {
    const cost = await costOf(async () => {
      const { statuses } = await say(url, request(`GET /oauth/authorize?${query}`, ['X-User: alice', ...headers]))
      t.strictSame(statuses, [status], name)
      t.equal(events.at(-1)?.reason, reason, name)
    })
    t.ok(cost < MOST, `${name}: ${cost.toFixed()} ms`)
  }
  for (const [spaces, ...reasons] of [
    [`Bearer ${' '.repeat(15_000)}!`, 'authorization_malformed', 'client_id_missing'],
    [`Bearer ${'a='.repeat(7000)}`, 'authorization_malformed', 'client_id_missing'],
    [`Basic ${' '.repeat(15_000)}!`, 'credentials_missing', 'authentication_malformed'],
    [`Basic ${'='.repeat(15_000)}`, 'credentials_missing', 'authentication_malformed']
  ] as const) {
    const authorization = [`Authorization: ${spaces}`]
    const cost = await costOf(async () => {
      const user = await say(url, request('GET /oauth/user', authorization))
      const form = 'code=x&grant_type=authorization_code&redirect_uri=x'
      const token = await say(url, tokenRequest(form, authorization))
      t.ok([...user.statuses, ...token.statuses].every((status) => [400, 401].includes(status)))
      t.strictSame(events.slice(-2).map(({ reason }) => reason), reasons)
    })
    t.ok(cost < MOST)
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
  const limits = { requestTimeout: 400, http: { headersTimeout: 300, connectionsCheckingInterval: 100 } }
  const { url, events } = await startHost(t, {}, { server: limits as FastifyServerOptions })
  const whole = tokenRequest(new URLSearchParams({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code: 'c'.repeat(CODE)
  }).toString())
  const slow = Promise.all([
    // Says a byte now and then, and never comes to an end.
    say(url, [...whole.slice(0, 40)], { pause: 50 }),
    say(url, [whole.slice(0, -10), ...whole.slice(-10)], { pause: 200 }),
    say(url, '', { giveUpAfter: 1000 })
  ])
  t.ok(await signsIn(url), 'a portal is answered meanwhile')
  const [byteByByte, body] = await slow
  t.ok(byteByByte.closed && body.closed, 'where the host sets requestTimeout, the server hangs up')
  const statuses = [...byteByByte.statuses, ...body.statuses]
  t.ok(statuses.every((status) => status === 408), statuses.join())

  for (const length of [1, 20, whole.indexOf('\r\n\r\n') + 2, whole.length - 70, whole.length - 1]) {
    const { closed } = await say(url, whole.slice(0, length), { end: true })
    t.ok(closed, `broken off after ${length} bytes`)
  }
  // Sends all of it and closes the connection before the response: the process lives.
  await Promise.all(Array.from({ length: 20 }, async () => await say(url, whole, { giveUpAfter: 1 })))
  t.ok(events.every(({ reason }) => reason !== 'internal_error'))
  t.ok(await signsIn(url), 'and a user can sign in')
})
