// Someone reads the log of the partner's app, written at `trace`, or a dump of its Redis, taken while users sign in:
// neither lets them in, and neither names anyone. Every reason to refuse is provoked once, with the credentials, codes
// and tokens in all the wrong places, and what happened is in the log and in the events under its reason code.
// Alone: it looks for secrets in all that is logged.
import { createHash, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { refusals } from '../contract/refusals.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { VERIFIER, wire } from '../helpers/wire.ts'
import type { Answer, Wire } from '../helpers/wire.ts'
import { capture } from './helpers/log.ts'
import type { Captured } from './helpers/log.ts'
import { request, say } from './helpers/raw.ts'
import { CODE, TOKEN } from './helpers/settings.ts'

const SECRETS = [PORTAL.clientSecret, 'the-secret-that-is-being-rotated-in']
const portal = { ...PORTAL, clientSecret: SECRETS }
const WRONG = 'a-wrong-secret-that-may-be-right-elsewhere'
const verifier = randomBytes(32).toString('base64url')
const challenge = createHash('sha256').update(verifier).digest('base64url')

/** What must not be found anywhere. */
class Confidential {
  readonly #values = new Set<string>([
    ...SECRETS,
    WRONG,
    verifier,
    VERIFIER,
    'the old one',
    ...['ada', 'alice', 'nobody'].flatMap((user) => [recordOf(user).email, recordOf(user).name])
  ])

  add (...values: Array<string | null | undefined>): void {
    for (const value of values) if (value) this.#values.add(value)
  }

  get size (): number {
    return this.#values.size
  }

  /** What of it the text holds: as it is, encoded in some way, or a part of a long one. */
  foundIn (text: string): string[] {
    const lower = text.toLowerCase()
    return [...this.#values].filter((value) => {
      const bytes = Buffer.from(value)
      const parts = /^[\w-]{43,}$/.test(value)
        ? Array.from({ length: (value.length - 16) / 4 }, (_, index) => value.slice(index * 4, index * 4 + 16))
        : []
      const spellings = [
        value,
        encodeURIComponent(value),
        new URLSearchParams({ '': value }).toString().slice(1),
        JSON.stringify(value).slice(1, -1),
        bytes.toString('base64').replaceAll('=', '').slice(0, -1),
        bytes.toString('base64url').slice(0, -1),
        bytes.join(),
        ...parts
      ]
      const raw = /^[\w-]{64,}$/.test(value) ? [Buffer.from(value, 'base64url').toString('hex').slice(0, 24)] : []
      return (
        spellings.some((spelling) => text.includes(spelling)) ||
        [bytes.toString('hex'), ...raw].some((spelling) => lower.includes(spelling))
      )
    })
  }
}

/** The portal, with all codes and tokens it gets written down. */
function watched (url: string, confidential: Confidential): Wire {
  const portal = wire(url)
  const note = (answer: Answer): Answer => {
    confidential.add(answer.redirect.get('code'))
    if (answer.status === 200) confidential.add(/"access_token":"([^"]*)"/.exec(answer.text)?.[1])
    return answer
  }
  return {
    ...portal,
    authorize: async (...args) => note(await portal.authorize(...args)),
    token: async (...args) => note(await portal.token(...args))
  }
}

interface World { log: Captured, confidential: Confidential, redis: { url: string, client: Redis } }

type Options = Partial<PartnerSsoOptions<User>>

/** The portal's requests with secrets in all the wrong places. */
function careless (at: Wire, token: string): Wire {
  const secret = PORTAL.clientSecret
  return {
    ...at,
    authorize: (changes, user, headers, more = '') => {
      const query = new URLSearchParams({ client_secret: secret, access_token: token, password: WRONG })
      return at.authorize(changes, user, headers, `${more}&${query}`)
    },
    token: (changes, headers) =>
      at.token({ username: recordOf('ada').email, password: secret, access_token: token, ...changes }, headers),
    user: (token, headers) => at.user(token, { cookie: `token=${token}`, 'x-secret': secret, ...headers })
  }
}

const form = (code: string) =>
  new URLSearchParams({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier
  }).toString()
await t.test('the log at trace', async (t) => {
  const { url, client } = await startRedis(t)
  const world: World = { log: capture(), confidential: new Confidential(), redis: { url, client } }
  const usual = await startHost(t, { portal, redis: url })
  const token = await watched(usual.url, world.confidential).accessToken()
  for (const [reason, refusal] of Object.entries(refusals)) {
    const options = { portal, redis: url, ...refusal.options }
    const host = await startHost(t, options, { server: { logger: world.log.logger } })
    await refusal.provoke(careless(watched(host.url, world.confidential), token))
    const event = host.events.at(-1)
    t.equal(event?.reason, reason)
    t.equal(event?.type, refusal.event)
    const logged = world.log
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter((line) => line.reqId !== undefined && line.reason === reason)
    t.equal(logged.length, 1, 'it is in the log once')
    t.match(logged[0], { event: refusal.event, reqId: event?.requestId })
    t.strictSame(
      world.confidential.foundIn(world.log.text() + JSON.stringify(host.events)),
      [],
      `nothing confidential is logged at ${reason}`
    )
  }

  await t.test('the sign-in, and mistakes of a portal that knows no better', async (t) => {
    const host = await startHost(
      t,
      { portal, redis: url, loginPage: '/login' },
      { server: { logger: world.log.logger, routerOptions: { useSemicolonDelimiter: true } as object } }
    )
    const portalOf = watched(host.url, world.confidential)
    const token = await portalOf.accessToken()
    t.equal((await portalOf.user(token)).status, 200)
    await portalOf.authorize({ client_secret: PORTAL.clientSecret }, null)
    for (const [method, target] of [
      ['GET', `/oauth/user?access_token=${await portalOf.accessToken()}`],
      ['GET', `/oauth/user?${await portalOf.accessToken()}`],
      ['GET', `/oauth/user?client_id=a&token=${await portalOf.accessToken()}&state=x`],
      ['POST', `/oauth/token?${form(await portalOf.code())}`],
      ['POST', `http://id:${WRONG}@host/oauth/token`],
      ['POST', `/oauth/token?state=${WRONG}&scope=${WRONG}`],
      ['GET', `http://${WRONG}@host/oauth/authorize?client_id=z&state=a`],
      ['GET', `/oauth/authorize?client_id=x&client_secret=${WRONG}&password=${WRONG}&state=a`],
      ['GET', `/oauth/authorize?${WRONG}`],
      ['GET', `/oauth/authorize??client_secret=${WRONG}`],
      ['GET', `/oauth/authorize?a?code=${WRONG}`],
      ['GET', `/oauth/user#access_token=${await portalOf.accessToken()}`],
      ['GET', `/oauth/user;access_token=${await portalOf.accessToken()}`],
      ['GET', `/oauth/authorize?client_id=y&state=x#client_secret=${WRONG}`],
      ['GET', `/oauth/authorize;state=x;${WRONG}`]
    ] as const) {
      await say(
        host.url,
        request(
          `${method} ${target}`,
          method === 'POST' ? ['Content-Type: application/x-www-form-urlencoded'] : [],
          method === 'POST' ? 'x=y' : ''
        )
      )
    }
    const lines = world.log.text()
    t.match(lines, '/oauth/authorize?client_id=x&…&state=a', 'expected parameters are still logged')
    for (const masked of [
      '"/oauth/user?…"',
      '"/oauth/token?…"',
      '"http://…@host/oauth/token"',
      '"http://…@host/oauth/authorize?client_id=z&state=a"',
      '"/oauth/user#…"',
      '"/oauth/user;…"',
      '"/oauth/authorize?client_id=y&state=x#…"',
      '"/oauth/authorize;state=x;…"'
    ]) { t.match(lines, masked) }
    t.strictSame(world.confidential.foundIn(lines + JSON.stringify(host.events)), [])
  })

  await t.test('Redis refuses to write, or is gone', async (t) => {
    const own = await startRedis(t)
    const host = await startHost(t, { portal, redis: own.url }, { server: { logger: world.log.logger } })
    const portalOf = watched(host.url, world.confidential)
    const [code, token] = [await portalOf.code(), await portalOf.accessToken()]
    await own.client.config('SET', 'maxmemory', '1')
    t.equal((await portalOf.token({ code })).status, 503, 'out of memory: an error that repeats its command')
    t.equal((await portalOf.authorize()).redirect.get('error'), 'temporarily_unavailable')
    own.process.kill('SIGKILL')
    await new Promise((resolve) => own.process.once('exit', resolve))
    t.equal((await portalOf.user(token)).status, 503)
    t.equal(host.events.at(-1)?.reason, 'store_unavailable')
    const nowhere = await startHost(
      t,
      { portal, redis: { host: '127.0.0.1', port: await freePort(), password: WRONG }, storeTimeout: 50 },
      { server: { logger: world.log.logger } }
    )
    await watched(nowhere.url, world.confidential).authorize()
    t.equal(nowhere.events.at(-1)?.reason, 'store_unavailable')
    t.strictSame(world.confidential.foundIn(world.log.text() + JSON.stringify(host.events)), [])
  })

  await t.test(
    'a request that Node cannot read, which Fastify itself logs as it came: unless the host says what SECURITY.md says',
    async (t) => {
      const own = new Confidential()
      const unreadable = request(
        'POST /oauth/token',
        ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 1', 'Content-Length: 2'],
        form(WRONG)
      )
      for (const redact of [['err.rawPacket'], []]) {
        const log = capture()
        const host = await startHost(t, { portal, redis: url }, { server: { logger: { ...log.logger, redact } } })
        t.strictSame((await say(host.url, unreadable)).statuses, [400])
        t.match(log.text(), '"msg":"client error"')
        const found = own.foundIn(log.text())
        if (redact.length > 0) t.strictSame(found, [])
        else t.ok(found.includes(WRONG), 'and so this search finds it')
      }
    }
  )

  t.ok(world.confidential.size > 40, `${world.confidential.size} secrets, codes and tokens were looked for`)
  t.ok(world.log.text().length > 50_000, `in ${world.log.text().length} characters`)
  t.strictSame(
    world.confidential.foundIn(`x${PORTAL.clientSecret}x`),
    [PORTAL.clientSecret],
    'the search finds what is there'
  )
})

await t.test('the host\'s own log serializers keep working', async (t) => {
  const log = capture()
  const serializers = {
    req: (request: { method: string; url: string }) => ({ mine: request.method, url: request.url })
  }
  const urls = async (options: Options & { logSerializers?: object }, logger: object) => {
    const { url } = await startHost(t, options, { server: { logger } })
    await fetch(`${url}/oauth/user?access_token=abc`)
  }
  await urls({}, { ...log.logger, serializers })
  await urls({ routeOptions: { logSerializers: serializers } }, log.logger)
  await urls({ logSerializers: serializers }, log.logger)
  const requests = log
    .text()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ req }) => req !== undefined)
    .map(({ req }) => req)
  t.strictSame(requests, [1, 2, 3].map(() => ({ mine: 'GET', url: '/oauth/user?…' })))
  await urls({ logSerializers: { req: () => 'a request' } }, log.logger)
  t.match(log.text(), '"req":"a request"', 'one that yields no URL is left alone')
})

await t.test('a dump of Redis in mid-flow, and all that was ever said to it', async (t: Test) => {
  const redis = await startRedis(t)
  const confidential = new Confidential()
  // At the partner's, external_id is no secret; in the store nobody is to be found. So long that random text does not
  // hold it by chance.
  const user = 'alice.anderson'
  confidential.add(user, 'Product Operator', 'Partner Read Only', PORTAL.redirectUri, PORTAL.clientId, challenge)
  const { url } = await startHost(t, { portal, redis: redis.url })
  const portalOf = watched(url, confidential)
  const monitor = await redis.client.monitor()
  t.teardown(() => monitor.disconnect())
  const said: string[] = []
  monitor.on('monitor', (_time: string, command: string[]) => { said.push(command.join(' ')) })

  await portalOf.code(user, { code_challenge: challenge, code_challenge_method: 'S256' })
  await portalOf.accessToken(user)
  const used = await portalOf.code(user)
  await portalOf.token({ code: used })
  await portalOf.token({ code: used })
  await portalOf.user(await portalOf.accessToken(user))

  const keys = await redis.client.keys('*')
  const records = keys.filter((key) => !key.includes('probe'))
  t.equal(records.length, 3, 'a code, a token and a revocation are there')
  const dump: string[] = [...keys]
  const values = new Map<string, string>()
  for (const key of records) {
    const serialized = await redis.client.dumpBuffer(key) as Buffer
    dump.push(serialized.toString('latin1'), serialized.toString('hex'))
    // A revocation is of another type.
    if (await redis.client.type(key) !== 'string') continue
    const value = String(await redis.client.get(key))
    values.set(key.replace('partner-sso:', ''), value)
    const bytes = Buffer.from(value)
    dump.push(value, bytes.toString('hex'), Buffer.from(value, 'base64').toString('latin1'))
  }
  t.strictSame(confidential.foundIn(dump.join('\n')), [], 'nothing is found in the dump')
  t.ok(said.length >= 12, `${said.length} commands were heard`)
  t.strictSame(confidential.foundIn(said.join('\n')), [], 'nor in what was said to Redis')

  // What the thief of a dump has is the keys: none of them is a code or a token, nor opens anything.
  for (const [key, value] of values) {
    for (const guess of [
      key,
      key.padEnd(CODE, 'A'),
      value.replaceAll('+', '-').replaceAll(/[/!]/g, '_').slice(0, CODE)
    ]) {
      t.equal((await portalOf.token({ code: guess.padEnd(CODE, 'A') })).status, 400)
      t.equal((await portalOf.user(guess.padEnd(TOKEN, 'A'))).status, 401)
    }
  }
})
