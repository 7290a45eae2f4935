// Someone reads the log of the partner's app, written at `trace`, or a dump of its Redis, taken while users sign in:
// neither lets them in, and neither names anyone. Every reason to refuse is provoked once, with the credentials, codes
// and tokens in all the wrong places, and what happened is in the log and in the events under its reason code.
// Alone: it looks for secrets in all that is logged.
import { createHash, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { refusals } from '../../lib/errors.ts'
import type { RefusalReason } from '../../lib/errors.ts'
import type { PartnerSsoOptions, Store } from '../../lib/index.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import type { Host, User } from '../helpers/host.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import type { Answer, Wire } from '../helpers/wire.ts'
import { capture } from './helpers/log.ts'
import type { Captured } from './helpers/log.ts'
import { authorizePath, request, say } from './helpers/raw.ts'
import { CODE, TOKEN } from './helpers/settings.ts'

const SECRETS = [PORTAL.clientSecret, 'the-secret-that-is-being-rotated-in']
const portal = { ...PORTAL, clientSecret: SECRETS }
const WRONG = 'a-wrong-secret-that-may-be-right-elsewhere'
const verifier = randomBytes(32).toString('base64url')
const challenge = createHash('sha256').update(verifier).digest('base64url')
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${encodeURIComponent(secret)}`).toString('base64')}`

/** What must not be found anywhere. */
class Confidential {
  readonly #values = new Set<string>([
    ...SECRETS,
    WRONG,
    verifier,
    recordOf('alice').email,
    recordOf('alice').name,
    recordOf('nobody').email
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

/** A step of a test at a fresh host. */
type Scenario = (portal: Wire, host: Host) => Promise<unknown>

const unavailable: Store = {
  async put () {
    throw new Error('down')
  },
  async take () {
    throw new Error('down')
  },
  async revoke () {
    throw new Error('down')
  }
}
/** Takes the probe at the start and the code, but not the token: as if a replay had come in between. */
const overtaken = (): Store => {
  const values: string[] = []
  return {
    async put (_key, value) {
      return values.push(value) < 3
    },
    async take () {
      return values.at(-1) ?? null
    },
    async revoke () {
      return false
    }
  }
}
const fails = (message: string) => () => { throw new Error(message) }
const form = (code: string) =>
  new URLSearchParams({
    client_id: PORTAL.clientId,
    client_secret: PORTAL.clientSecret,
    redirect_uri: PORTAL.redirectUri,
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier
  }).toString()
const bent =
  (changes: Record<string, string | undefined>): Scenario =>
    async (portal) =>
      await portal.token({ code: await portal.code(), ...changes })
const asked =
  (changes: Record<string, string | undefined>, user: string | null = 'alice'): Scenario =>
    async (portal) =>
      await portal.authorize(
        { client_secret: PORTAL.clientSecret, access_token: await portal.accessToken(), ...changes },
        user
      )
const askedTwice =
  (name: string): Scenario =>
    async (_portal, { url }) =>
      await say(url, request(`GET ${authorizePath('s')}&${name}=x&${name}=y`, ['X-User: alice']))

/** How each reason comes about. The compiler wants them all. */
const scenarios: Record<RefusalReason, Scenario | [Options, Scenario]> = {
  client_id_missing: asked({ client_id: undefined }),
  client_id_repeated: askedTwice('client_id'),
  client_id_unknown: asked({ client_id: WRONG.slice(0, 4) }),
  redirect_uri_missing: bent({ redirect_uri: undefined }),
  redirect_uri_repeated: askedTwice('redirect_uri'),
  redirect_uri_unregistered: asked({ redirect_uri: 'https://evil.example' }),
  parameter_repeated: askedTwice('scope'),
  parameters_excessive: asked(Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`p${index}`, 'x']))),
  portal_failed: [
    { portal: () => ({ ...portal, clientSecret: `${WRONG}\n` }) },
    async (portal) => await portal.authorize()
  ],
  portal_timeout: [
    { portal: async () => await new Promise<never>(() => {}), storeTimeout: 5 },
    async (portal) => await portal.authorize()
  ],
  response_type_missing: asked({ response_type: undefined }),
  response_type_unsupported: asked({ response_type: 'token' }),
  state_missing: asked({ state: undefined }),
  code_challenge_malformed: asked({ code_challenge: 'short' }),
  code_challenge_method_unsupported: asked({ code_challenge: challenge, code_challenge_method: 'plain' }),
  not_logged_in: asked({}, null),
  not_eligible: asked({}, 'nobody'),
  current_user_failed: [{ currentUser: fails('no session store') }, async (portal) => await portal.authorize()],
  login_page_failed: [{ loginPage: fails('no login page') }, async (portal) => await portal.authorize({}, null)],
  portal_eligibility_failed: [{ portalEligibility: fails('no roles') }, async (portal) => await portal.authorize()],
  user_information_invalid: [
    { portalEligibility: ({ id }) => ({ ...recordOf(id), product_role: 'Nothing' as 'Product Operator' }) },
    async (portal) => await portal.authorize()
  ],
  content_type_unsupported: async (portal, { url }) =>
    await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_secret: PORTAL.clientSecret, code: await portal.code() })
    }),
  body_already_read: [
    {
      routeOptions: {
        async preParsing (_request, _reply, body) {
          await body.toArray()
          return body
        }
      }
    },
    bent({})
  ],
  body_unreadable: async (portal, { url }) =>
    await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${form(await portal.code())}&x=%zz`
    }),
  credentials_in_url: async (portal, { url }) =>
    await fetch(`${url}/oauth/token?${form(await portal.code())}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form(await portal.code())
    }),
  grant_type_missing: bent({ grant_type: undefined }),
  grant_type_unsupported: bent({
    grant_type: 'password',
    username: recordOf('alice').email,
    password: PORTAL.clientSecret
  }),
  client_secret_missing: bent({ client_secret: undefined }),
  code_missing: bent({ code: undefined }),
  authentication_repeated: async (portal) =>
    await portal.token(
      { code: await portal.code() },
      { authorization: basic(PORTAL.clientId, PORTAL.clientSecret) }
    ),
  authentication_malformed: async (portal) =>
    await portal.token(
      { code: await portal.code(), client_id: undefined, client_secret: undefined },
      { authorization: `${basic(PORTAL.clientId, PORTAL.clientSecret)}!` }
    ),
  client_unknown: bent({ client_id: 'someone' }),
  client_secret_wrong: bent({ client_secret: WRONG }),
  redirect_uri_mismatch: bent({ redirect_uri: 'https://evil.example' }),
  code_malformed: async (portal) => await portal.token({ code: await portal.accessToken() }),
  code_unknown: async (portal) => {
    const code = await portal.code()
    await portal.user((await portal.token({ code })).json.access_token)
    return await portal.token({ code })
  },
  code_replayed: [{ store: overtaken() }, bent({})],
  code_verifier_missing: async (portal) =>
    await portal.token({
      code: await portal.code('alice', { code_challenge: challenge, code_challenge_method: 'S256' })
    }),
  code_verifier_unexpected: bent({ code_verifier: verifier }),
  code_verifier_mismatch: async (portal) =>
    await portal.token({
      code: await portal.code('alice', { code_challenge: challenge, code_challenge_method: 'S256' }),
      code_verifier: [...verifier].reverse().join('')
    }),
  credentials_missing: async (portal) =>
    await portal.user(undefined, {
      authorization: basic(PORTAL.clientId, PORTAL.clientSecret),
      cookie: `token=${await portal.accessToken()}`
    }),
  authorization_malformed: async (portal) =>
    await portal.user(`${await portal.accessToken()} ${await portal.accessToken()}`),
  token_unknown: async (portal) => {
    const token = await portal.accessToken()
    await portal.user(token)
    return await portal.user(token)
  },
  store_unavailable: [{ store: unavailable }, async (portal) => await portal.authorize()],
  internal_error: [
    {
      routeOptions: {
        async preHandler (request) {
          if (request.method === 'POST') request.raw.url = undefined
        }
      }
    },
    bent({})
  ]
}

await t.test('the log at trace', async (t) => {
  const { url, client } = await startRedis(t)
  const world: World = { log: capture(), confidential: new Confidential(), redis: { url, client } }
  const reasons = Object.keys(scenarios) as RefusalReason[]
  t.strictSame([...reasons].sort(), Object.keys(refusals).sort(), 'every reason of lib/errors.ts is provoked')

  for (const reason of reasons) {
    const entry = scenarios[reason]
    const [options, scenario] = Array.isArray(entry) ? entry : [{ redis: url }, entry]
    const host = await startHost(t, { portal, ...options }, { server: { logger: world.log.logger } })
    await scenario(watched(host.url, world.confidential), host)
    const event = host.events.at(-1)
    t.equal(event?.reason, reason)
    t.equal(event?.type, refusals[reason].type)
    const logged = world.log
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter((line) => line.reason === reason)
    t.equal(logged.length, 1, 'it is in the log once')
    t.match(logged[0], { event: refusals[reason].type, reqId: event?.requestId })
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

  t.ok(world.confidential.size > 60, `${world.confidential.size} secrets, codes and tokens were looked for`)
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
  for (const key of keys) {
    const value = await redis.client.getBuffer(key)
    const serialized = await redis.client.dumpBuffer(key)
    if (value === null || serialized === null) {
      t.match(key, 'probe', 'only the probe of the start, which lives for a second, is gone by now')
      continue
    }
    values.set(key.replace('partner-sso:', ''), value.toString())
    dump.push(
      value.toString('latin1'),
      value.toString('hex'),
      Buffer.from(value.toString(), 'base64').toString('latin1'),
      serialized.toString('latin1'),
      serialized.toString('hex')
    )
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
