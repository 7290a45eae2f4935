// What the host is told: each event, its fields, and that a listener can break nothing.
import t from 'tap'
import type { FastifyRequest } from 'fastify'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { hostOptions, PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

function logged (): { lines: Record<string, unknown>[], server: object } {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => { lines.push(JSON.parse(line)) } }
  return { lines, server: { logger: { level: 'trace', stream } } }
}

t.test('the log level that the host registers the plugin with', async (t) => {
  const { lines, server } = logged()
  const quiet = { ...hostOptions(), prefix: '/quiet', logLevel: 'error' as const }
  const { url } = await startHost(t, {}, { server, finish: (app) => app.register(partnerSso<User>, quiet) })
  await fetch(`${url}/quiet/oauth/token`, { method: 'POST' })
  t.strictSame(lines.filter(({ reqId }) => reqId !== undefined), [])
  await fetch(`${url}/oauth/token`, { method: 'POST' })
  t.match(lines.filter(({ event }) => event !== undefined), [{ event: 'request_rejected' }])
})

t.test('a store that fails: the event says whose sign-in it was, as far as that is known', async (t) => {
  const portal = { clientId: PORTAL.clientId }
  const user = { ...portal, externalId: 'alice' }
  // The probe at the start, then the calls of a sign-in.
  const sequence = [['put', {}], ['take', {}], ['put', user], ['take', portal], ['put', user], ['take', {}]] as const
  for (const [index, [operation, known]] of sequence.entries()) {
    if (index < 2) continue
    let calls = 0
    const records = new Map<string, string>()
    const call = (): void => { if (calls++ === index) throw new Error('It is down') }
    const { url, events } = await startHost(t, {
      store: {
        async put (key, value) { call(); records.set(key, value); return true },
        async take (key) { call(); return records.get(key) ?? null },
        async revoke () { return false }
      }
    })
    const portal = wire(url)
    const code = (await portal.authorize()).redirect.get('code')
    const { access_token: token } = code === null ? { access_token: undefined } : (await portal.token({ code })).json
    if (token !== undefined) await portal.user(token)
    const { requestId, ...event } = events.at(-1) as PartnerSsoEvent
    const expected = { type: 'store_unavailable', reason: 'store_unavailable', ...known }
    t.strictSame(event, expected, `${operation}, call ${index}`)
    t.equal(calls, index + 1)
  }
})

t.test('an event carries the request id of Fastify', async (t) => {
  let count = 0
  const genReqId = () => `id-of-the-host-${++count}`
  const seen: string[] = []
  const events: PartnerSsoEvent[] = []
  const { url } = await startHost(t, {
    onEvent: (event, request) => {
      events.push(event)
      seen.push(request.id)
    }
  }, { server: { genReqId } })
  const portal = wire(url)
  await portal.user(await portal.accessToken())
  await portal.authorize({ client_id: 'x' })
  await portal.authorize({}, 'nobody')
  t.strictSame(events.map(({ requestId }) => requestId), [1, 2, 3, 4, 5].map((number) => `id-of-the-host-${number}`))
  t.strictSame(seen, events.map(({ requestId }) => requestId))
})

t.test('a record over 16 KiB: server_error, and the event names the rule and the user', async (t) => {
  const sizeOf = (name: string) => Buffer.byteLength(JSON.stringify({ ...recordOf('alice'), name }))
  const fitting = 'é'.repeat((16_384 - sizeOf('')) / 2)
  let name = fitting
  const { url, events } = await startHost(t, { portalEligibility: ({ id }) => ({ ...recordOf(id), name }) })
  const portal = wire(url)
  t.equal((await portal.user(await portal.accessToken())).json.name, fitting, 'what just fits arrives')
  name += 'é'
  const { status, redirect } = await portal.authorize()
  t.equal(status, 302)
  t.strictSame([redirect.get('error'), redirect.get('state')], ['server_error', 'a state'])
  t.notMatch(redirect.toString(), '16384')
  const { requestId, ...event } = events.at(-1) as PartnerSsoEvent
  t.strictSame(event, {
    type: 'sign_in_refused',
    reason: 'user_information_invalid',
    clientId: PORTAL.clientId,
    rule: `its JSON must be at most 16384 bytes in UTF-8, got ${sizeOf(name)}`,
    externalId: 'alice'
  })
})

t.test('a record that breaks a rule: the event names the rule, and the user where the record does', async (t) => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const cases: Array<[changes: object, known: object]> = [
    [{ email: '' }, { rule: /^email must be a non-empty string/, externalId: 'alice' }],
    [{ product_role: 'operator' }, { rule: /^product_role must be .*, got "operator"$/, externalId: 'alice' }],
    [{ external_id: undefined }, { rule: /^external_id must be a non-empty string/ }],
    [{ external_id: '' }, { rule: /^external_id must be a non-empty string/ }],
    [{ external_id: 17 }, { rule: /^external_id must be a non-empty string/ }],
    [{ external_id: 'x'.repeat(20_000) }, { rule: /^its JSON must be at most 16384 bytes/ }],
    [{ email: revoked.proxy }, { rule: 'its values must be readable', externalId: 'alice' }]
  ]
  for (const [changes, known] of cases) {
    const { url, events } = await startHost(t, {
      portalEligibility: ({ id }) => ({ ...recordOf(id), ...changes }) as never
    })
    const { redirect } = await wire(url).authorize()
    t.equal(redirect.get('error'), 'server_error')
    t.match(events, [{ type: 'sign_in_refused', reason: 'user_information_invalid', ...known }])
    t.equal(events.length, 1)
    for (const name of ['externalId', 'rule']) {
      t.equal(Object.hasOwn(events[0] as object, name), Object.hasOwn(known, name), name)
    }
    t.notMatch(JSON.stringify(events), /@partner|Name of/)
  }
})

t.test('a record that cannot be read: the event names the rule and nobody', async (t) => {
  const unreadable = { ...recordOf('alice'), get external_id (): string { throw new Error('zzz') } }
  const { url, events } = await startHost(t, { portalEligibility: () => unreadable })
  t.equal((await wire(url).authorize()).redirect.get('error'), 'server_error')
  const rule = 'external_id must be readable, but reading it threw'
  t.match(events, [{ type: 'sign_in_refused', reason: 'user_information_invalid', rule }])
  t.notHas(events[0], 'externalId')
})

t.test('onEvent gets the request, and a throw in it changes nothing', async (t) => {
  const { lines, server } = logged()
  let seen: [PartnerSsoEvent, FastifyRequest] | undefined
  const onEvent = (...args: [PartnerSsoEvent, FastifyRequest]) => {
    seen = args
    throw new Error('the audit log is full')
  }
  const { url } = await startHost(t, { onEvent }, { server })
  t.equal((await wire(url).authorize()).status, 302)
  t.equal(seen?.[1].url.startsWith('/oauth/authorize'), true)
  t.ok(lines.some(({ level, err }) => level === 50 && (err as Error | undefined)?.message === 'the audit log is full'))
})

t.test('a fault of the plugin itself is server_error in the form of the endpoint', async (t) => {
  // JSON.stringify of a record cannot fail in life; here Fastify's reply does.
  const { lines, server } = logged()
  const { url, events } = await startHost(t, {}, {
    server,
    prepare: (app) => app.addHook('onRequest', async (request) => {
      if (request.headers['x-break'] === undefined) return
      const property = request.method === 'POST'
        ? 'body'
        : request.url.includes('authorize') ? 'originalUrl' : 'headers'
      Object.defineProperty(request, property, { get () { throw new Error('broken') } })
    })
  })
  const answer = await wire(url).user('x', { 'x-break': '1' })
  t.equal(answer.status, 500)
  t.strictSame(answer.json, { error: 'server_error', error_description: 'The request could not be completed.' })
  t.match(events.pop(), { type: 'request_rejected', reason: 'internal_error' })
  t.ok(lines.some(({ level, reason }) => level === 50 && reason === 'internal_error'))
})
