// Someone reads and writes the store: a neighbour on a shared Redis, an injection beside the PostgreSQL store, a stolen
// backup. They know all that is public, codes and tokens of log lines, but no client secret. They make no code and no
// token, open no record and change none. What they can do is written in .github/SECURITY.md: write a value back within
// its lifetime and five minutes, and delete.
import { hash, randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import { encodeGrant } from '../../lib/grants/grant.ts'
import { GrantKeys, NAME_LENGTH, SEALING_KEY_LENGTH } from '../../lib/grants/keys.ts'
import { randomSecret } from '../../lib/grants/random-secret.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import type { Portal, Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { checkUserInformation } from '../../lib/user-information.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { startRedis } from '../helpers/redis.ts'
import { injecting, wire } from '../helpers/wire.ts'
import type { Wire } from '../helpers/wire.ts'

/** A store that the attacker reads and writes. Nothing in it expires. */
class OpenStore implements Store {
  readonly held = new Map<string, string>()
  readonly revoked = new Set<string>()

  async put (key: string, value: string): Promise<boolean> {
    const isFree = !this.held.has(key) && !this.revoked.has(key)
    if (isFree) this.held.set(key, value)
    return isFree
  }

  async take (key: string): Promise<string | null> {
    const value = this.held.get(key) ?? null
    this.held.delete(key)
    return value
  }

  async revoke (key: string): Promise<boolean> {
    this.revoked.add(key)
    return this.held.delete(key)
  }

  /** The one value that is held now. */
  only (): [key: string, value: string] {
    const [entry] = this.held
    if (entry === undefined || this.held.size > 1) throw new Error(`The store holds ${this.held.size} values`)
    return entry
  }
}

const keys = new GrantKeys('')
const registered = new RegisteredPortal(PORTAL)
const CEO = { ...recordOf('ceo'), control_role: 'Partner Administrator' }
const forgedGrant = encodeGrant({
  clientId: PORTAL.clientId,
  level: 'partner',
  codeChallenge: '',
  externalId: 'ceo',
  record: checkUserInformation(CEO, 'partner').compact
})

/** All keys that whoever knows the code, or the token, can derive without the client secret. */
function publicKeys (codeOrToken: string): string[] {
  const { clientId } = PORTAL
  const guesses = ['', 'null', '""', '[]', JSON.stringify(clientId), `["${clientId}"]`, `["${clientId}",""]`]
  const infos = guesses.flatMap((guess) => [guess, guess + registered.binding])
  const purposes = ['sealing', 'authorization_code', 'access_token', 'code_fingerprint', 'token_fingerprint', '']
  const derived = infos.flatMap((info) => purposes.map((purpose) =>
    hash('sha256', `\0\0\0\x01${codeOrToken}${purpose} ${info} `, 'base64url')))
  return derived.map((text) => text.slice(0, SEALING_KEY_LENGTH))
}

/** The text as a value, in each form that a reader might take. */
const asValues = (sealed: string): string[] => {
  const fingerprint = randomBytes(15).toString('base64url')
  const now = Date.now()
  return [
    sealed, `0_${sealed}`, `1_${sealed}`, `1_${fingerprint}${sealed}`, `0_${now}_${sealed}`,
    `1_${fingerprint}${now}_${sealed}`, `${now}_1_${fingerprint}${sealed}`
  ]
}

/** The portal's requests, in process. */
const local = (app: FastifyInstance, portal = PORTAL): Wire =>
  wire('http://localhost', portal, { fetch: injecting(app) })

/** Expects that the code, and the token, are refused: never a record, never 500. */
async function refuses (t: Test, portal: Wire, { code, token }: { code?: string, token?: string }, what: string) {
  if (code !== undefined) {
    const { status, json } = await portal.token({ code })
    t.strictSame([status, json.error], [400, 'invalid_grant'], `code: ${what}`)
  }
  if (token !== undefined) {
    const { status, json } = await portal.user(token)
    t.strictSame([status, json.error], [401, 'invalid_token'], `token: ${what}`)
  }
}

await t.test('a code and a token that the attacker made, with write access', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  const code = randomSecret()
  const { storageKey, locator } = keys.ofCode(code, registered)
  for (const key of [...new Set(publicKeys(code))].slice(0, 40)) {
    for (const value of asValues(seal(key, forgedGrant))) {
      store.held.set(storageKey, value)
      await refuses(t, portal, { code }, 'a sealed record')
    }
  }
  const sealingKey = randomBytes(32).toString('base64url')
  for (const value of asValues(seal(sealingKey, forgedGrant))) {
    store.held.set(keys.ofToken(locator), value)
    await refuses(t, portal, { token: locator + sealingKey }, 'a sealed record')
  }
})

await t.test('the plugin itself, with everything but the client secret, makes nothing that is accepted', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  for (const clientSecret of ['a guess', PORTAL.clientId, `${PORTAL.clientSecret} `]) {
    const guessed = { ...PORTAL, clientSecret }
    const attacker = await startHost(t, { store, portal: guessed })
    const code = await local(attacker.app, guessed).code('ceo')
    const token = await local(attacker.app, guessed).accessToken('ceo')
    await refuses(t, portal, { code, token }, 'issued with another secret')
  }
  t.equal((await portal.user(await portal.accessToken())).status, 200)
})

await t.test('a Redis user with nothing but SET', async (t) => {
  const { url: redis, port, client } = await startRedis(t)
  await client.call('ACL', 'SETUSER', 'attacker', 'on', '>pw', '-@all', '+set', '~partner-sso:*')
  const attacker = new Redis({ port, username: 'attacker', password: 'pw', enableReadyCheck: false })
  t.teardown(() => attacker.disconnect())
  attacker.on('error', () => {})
  const { app } = await startHost(t, { redis })
  const portal = local(app)

  // What the attacker's own app stores, with everything but the client secret, goes into the Redis of the other.
  const store = new OpenStore()
  const guessed = { ...PORTAL, clientSecret: 'a guess' }
  const own = local((await startHost(t, { store, portal: guessed })).app, guessed)
  const code = await own.code('ceo')
  const token = await own.accessToken('ceo')
  t.equal(store.held.size, 2)
  for (const [key, value] of store.held) t.equal(await attacker.set(`partner-sso:${key}`, value), 'OK')
  await refuses(t, portal, { code, token }, 'written with SET')
  for (const key of store.held.keys()) t.equal(await client.type(`partner-sso:${key}`), 'none', 'it was taken')
  await t.rejects(attacker.get('partner-sso:a'), /NOPERM/)
})

await t.test('a code of a log line and a copy of the store do not open the record', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  const code = await portal.code()
  const [, value] = store.only()
  const sealed = value.replace(/^1_.{20}\d+_/, '')
  for (const key of new Set(publicKeys(code))) if (open(key, sealed) !== null) t.fail('opened without the secret')
  const [key] = keys.sealingKeys(code, registered) as [string]
  t.match(open(key, sealed), /alice@partner\.example/, 'the secret opens it')
})

await t.test('a token of a log line gives no other record, and no later one', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  const code = await portal.code()
  const [codeKey, codeValue] = store.only()
  const { json: { access_token: token } } = await portal.token({ code })
  const [tokenKey, tokenValue] = store.only()

  const sealed = seal(token.slice(NAME_LENGTH), forgedGrant)
  const fingerprintOf = (value: string) => value.slice(0, 2 + NAME_LENGTH)
  const issuedAt = tokenValue.slice(2 + NAME_LENGTH).split('_')[0] as string
  for (const fingerprint of [fingerprintOf(tokenValue), fingerprintOf(codeValue)]) {
    store.held.set(tokenKey, `${fingerprint}${issuedAt}_${sealed}`)
    await refuses(t, portal, { token }, 'another record under its sealing key')
    store.held.set(codeKey, `${fingerprint}${sealed}`)
    await refuses(t, portal, { code }, 'another record under its sealing key')
    store.revoked.clear()
  }
  store.held.set(tokenKey, tokenValue.replace(issuedAt, String(Number(issuedAt) + 1)))
  await refuses(t, portal, { token }, 'another time of issue')
  store.held.set(tokenKey, tokenValue)
  t.equal((await portal.user(token)).status, 200, 'the value itself is accepted')
})

await t.test('rotation: who shares a secret with the issuer accepts, and nobody else', async (t) => {
  const store = new OpenStore()
  const lists = [['old'], ['old', 'new'], ['new', 'old'], ['new']]
  const hosts = await Promise.all(lists.map(async (clientSecret) => {
    const { app } = await startHost(t, { store, portal: { ...PORTAL, clientSecret } })
    return { clientSecret, app }
  }))
  type Server = typeof hosts[number]
  const share = (a: Server, b: Server) => a.clientSecret.some((secret) => b.clientSecret.includes(secret))
  const at = ({ app }: Server, clientSecret = '') => local(app, { ...PORTAL, clientSecret })
  for (const issuer of hosts) {
    for (const redeemer of hosts) {
      for (const clientSecret of redeemer.clientSecret) {
        for (const user of hosts) {
          const code = await at(issuer).code()
          const way = [issuer, redeemer, user].map(({ clientSecret }) => clientSecret.join()).join(' > ')
          const { status, json } = await at(redeemer, clientSecret).token({ code })
          t.equal(status, share(issuer, redeemer) ? 200 : 400, `${way}: the code`)
          if (status !== 200) continue
          const answer = await at(user).user(json.access_token)
          t.equal(answer.status, share(redeemer, user) ? 200 : 401, `${way}: the token`)
        }
      }
    }
  }
  t.equal(store.held.size, 0)
})

const changes: Array<[what: string, change: Partial<Portal>]> = [
  ['loginUrl', { loginUrl: 'https://portal.example/external-oauth/other' }],
  ['redirectUri', { redirectUri: 'https://portal.example/other' }],
  ['level', { level: 'client' }],
  ['clientSecret', { clientSecret: ['new', PORTAL.clientSecret] }]
]

for (const prefix of ['', '/tenant']) {
  for (const [what, change] of changes) {
    await t.test(`a replay revokes the token after ${what} changed, under the prefix "${prefix}"`, async (t) => {
      const store = new OpenStore()
      const before = await startHost(t, { store, prefix })
      const changed = { ...PORTAL, ...change }
      const after = await startHost(t, { store, prefix, portal: changed })
      const portal = wire(before.url + prefix)
      const code = await portal.code()
      const { json: { access_token: token } } = await portal.token({ code })
      const { redirectUri } = changed
      const replay = await wire(after.url + prefix, { ...PORTAL, redirectUri }).token({ code })
      t.strictSame([replay.status, replay.json.error], [400, 'invalid_grant'])
      t.equal(after.events.at(-1)?.type, 'code_replayed')
      t.equal((await portal.user(token)).status, 401)
    })
  }
}

/** Stops the clock of the app, `Date.now()`, so many milliseconds after now until the test is over. */
function stopClock (t: Test): (later: number) => void {
  const real = Date.now
  const now = real()
  t.teardown(() => { Date.now = real })
  return (later) => { Date.now = () => now + later }
}

/** Milliseconds: the lifetime of codes and tokens and the tolerance of clocks. */
const [LIFETIME, TOLERANCE] = [60_000, 300_000]

await t.test('values that are written back are worth something for their lifetime and five minutes', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  const setClock = stopClock(t)
  for (const [later, isGood] of [[0, true], [LIFETIME + TOLERANCE, true], [LIFETIME + TOLERANCE + 1, false]] as const) {
    setClock(0)
    const code = await portal.code()
    const [codeKey, codeValue] = store.only()
    const { json: { access_token: token } } = await portal.token({ code })
    const [tokenKey, tokenValue] = store.only()
    t.equal((await portal.user(token)).status, 200)
    t.equal((await portal.user(token)).status, 401, 'used')

    setClock(later)
    store.held.set(tokenKey, tokenValue)
    t.equal((await portal.user(token)).status, isGood ? 200 : 401, `a token ${later} ms later`)
    store.held.set(codeKey, codeValue)
    t.equal((await portal.token({ code })).status, isGood ? 200 : 400, `a code ${later} ms later`)
    store.held.clear()
  }
})

await t.test('clocks of the servers that differ by five minutes fail no sign-in', async (t) => {
  const { app } = await startHost(t, { store: new OpenStore() })
  const portal = local(app)
  const setClock = stopClock(t)
  for (const [redeemer, user] of [[TOLERANCE, 0], [-TOLERANCE, 0], [0, TOLERANCE], [0, -TOLERANCE]] as const) {
    setClock(0)
    const code = await portal.code()
    setClock(redeemer + LIFETIME)
    const { json: { access_token: token } } = await portal.token({ code })
    setClock(redeemer + user + 2 * LIFETIME)
    t.equal((await portal.user(token)).status, 200, `${redeemer} and ${user} ms`)
  }
})

function changed (value: string, at: number): string {
  return value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1)
}

/** What an attacker may make of a value, and of another one. */
function spoiled (value: string, other: string): string[] {
  const counts = ['', '0', '2', '9', '9999', '999999999', '9'.repeat(400), '-1', '1e3', '01']
  const rest = value.slice(value.indexOf('_') + 1)
  const lengths = [1, 2, 3, 22, 23, 24, 40, 60, value.length - 24, value.length - 1]
  return [
    other, value + value, value + other, `${value}A`, value.toLowerCase(), `_${value}`, `${value}\n`,
    '_', '1_', '_'.repeat(9),
    ...counts.flatMap((count) => [`${count}_${rest}`, `${count}_`, `${count}_${rest.repeat(9)}`]),
    ...lengths.map((length) => value.slice(0, length)),
    ...[3, 10, 30, 50, value.length - 2].map((at) => changed(value, at)),
    '\u{1f600}', '\ud800', '1_\0', 'A'.repeat(400_000), `9999_${'A'.repeat(250_000)}`
  ]
}

await t.test('values that are exchanged, cut, repeated or changed yield nothing', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  const [code, otherCode] = [await portal.code(), await portal.code('bob')]
  const [[codeKey, codeValue], [, otherCodeValue]] = [...store.held] as [[string, string], [string, string]]
  store.held.clear()
  const token = await portal.accessToken()
  const [tokenKey, tokenValue] = store.only()
  const codeValues = [...spoiled(codeValue, otherCodeValue), tokenValue, ...spoiled(tokenValue, otherCodeValue)]
  for (const value of codeValues) {
    store.held.set(codeKey, value)
    await refuses(t, portal, { code }, `${value.length} characters`)
  }
  const tokenValues = [...spoiled(tokenValue, codeValue), otherCodeValue, ...spoiled(codeValue, otherCodeValue)]
  for (const value of tokenValues) {
    store.held.set(tokenKey, value)
    await refuses(t, portal, { token }, `${value.length} characters`)
  }
  store.held.set(codeKey, codeValue)
  store.revoked.clear()
  t.equal((await portal.token({ code })).status, 200, 'the value itself is accepted')
  await refuses(t, portal, { code: otherCode }, 'its value was taken away')
})

/** Times the cost of a normal request, as attacks/amplification allows it. */
const LIMIT = Number(process.env.COST_LIMIT ?? 10)
const AT_ONCE = 20

await t.test('no value costs much', async (t) => {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  const portal = local(app)
  const code = await portal.code()
  const [codeKey, codeValue] = store.only()
  const { json: { access_token: token } } = await portal.token({ code })
  const [tokenKey, tokenValue] = store.only()
  const longest = 262_144
  const long = (start: string, piece = 'A') => start + piece.repeat((longest - start.length) / piece.length)
  const values = (value: string) => [
    long(value.slice(0, 2 + NAME_LENGTH)), long('9999_'), long('1_'), long('1_', '1_'), long('', '1'),
    long(`1_${'A'.repeat(NAME_LENGTH)}${Date.now()}_`), `1_${'A'.repeat(50 * longest)}`
  ]

  /** Microseconds of processor time of one request: the least that was measured. */
  async function cost (key: string, value: string, request: () => Promise<{ status: number }>): Promise<number> {
    const start = process.cpuUsage()
    for (let index = 0; index < AT_ONCE; index++) {
      store.revoked.clear()
      store.held.set(key, value)
      await request()
    }
    const { user, system } = process.cpuUsage(start)
    return (user + system) / AT_ONCE
  }

  for (const [name, key, good, request] of [
    ['code', codeKey, codeValue, () => portal.token({ code })],
    ['token', tokenKey, tokenValue, () => portal.user(token)]
  ] as const) {
    for (const value of values(good)) {
      let ratio = Infinity
      for (let round = 0; round < 10 && ratio > LIMIT; round++) {
        store.held.clear()
        const normal = await cost(key, good, request)
        store.held.clear()
        ratio = Math.min(ratio, await cost(key, value, request) / normal)
      }
      t.ok(ratio <= LIMIT, `${name}: ${value.slice(0, 8)}… costs ${ratio.toFixed(1)} times as much`)
    }
  }
})
