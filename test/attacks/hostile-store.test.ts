// Someone reads and writes the store: a neighbour on a shared Redis, an injection beside the PostgreSQL store, a stolen
// backup. They know all that is public, codes and tokens of log lines, but no client secret. They make no code and no
// token, open no record and change none. What they can do is written in .github/SECURITY.md: write a value back within
// its lifetime and five minutes, and delete.
import { hash, randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { encodeGrant } from '../../lib/grants/grant.ts'
import { GrantKeys, NAME_LENGTH, SEALING_KEY_LENGTH } from '../../lib/grants/keys.ts'
import { randomSecret } from '../../lib/grants/random-secret.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import type { Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import type { Answer, Wire } from '../helpers/wire.ts'

/** A store that the attacker reads and writes. Nothing in it expires, and he removes the marks of revocations. */
class OpenStore extends Map<string, string> implements Store {
  async put (key: string, value: string): Promise<boolean> {
    const isFree = !this.has(key)
    if (isFree) this.set(key, value)
    return isFree
  }

  async take (key: string): Promise<string | null> {
    const value = this.get(key) ?? null
    this.delete(key)
    return value
  }

  async revoke (key: string): Promise<boolean> {
    return this.delete(key)
  }

  /** The one value that is held now. */
  only (): [key: string, value: string] {
    const [entry] = this
    if (entry === undefined || this.size > 1) throw new Error(`The store holds ${this.size} values`)
    return entry
  }
}

const keys = new GrantKeys('')
const registered = new RegisteredPortal(PORTAL)
const forgedGrant = encodeGrant({
  clientId: PORTAL.clientId,
  level: 'partner',
  codeChallenge: '',
  externalId: 'ceo',
  record: JSON.stringify(recordOf('ceo'))
})

async function startApp (t: Test): Promise<{ store: OpenStore, portal: Wire }> {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
  return { store, portal: wire('', PORTAL, { fetch: injecting(app) }) }
}

/** A code and its token, with the keys and values that the store held for them. */
async function signIn ({ store, portal }: { store: OpenStore, portal: Wire }) {
  const code = await portal.code()
  const [codeKey, codeValue] = store.only()
  const { json: { access_token: token } } = await portal.token({ code })
  const [tokenKey, tokenValue] = store.only()
  const redeemCode = () => portal.token({ code })
  const redeemToken = () => portal.user(token)
  return { code, token, codeKey, codeValue, tokenKey, tokenValue, redeemCode, redeemToken }
}

/** Never a record, never 500. */
function isRefused (t: Test, { status, json }: Answer, message: string): void {
  t.strictSame([status, json.error], status === 400 ? [400, 'invalid_grant'] : [401, 'invalid_token'], message)
}

/** All keys that whoever knows the code can derive without the client secret. */
function publicKeys (code: string): string[] {
  const { clientId } = PORTAL
  const guesses = ['', 'null', '""', '[]', JSON.stringify(clientId), `["${clientId}"]`, `["${clientId}",""]`]
  const infos = guesses.flatMap((guess) => [guess, guess + registered.binding])
  const purposes = ['sealing', 'authorization_code', 'access_token', 'code_fingerprint', 'token_fingerprint', '']
  const derived = infos.flatMap((info) => purposes.map((purpose) =>
    hash('sha256', `\0\0\0\x01${code}${purpose} ${info} `, 'base64url')))
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

t.test('a code and a token that the attacker made, with write access', async (t) => {
  const { store, portal } = await startApp(t)
  const code = randomSecret()
  const { storageKey, locator } = keys.ofCode(code, registered)
  const tried = [...new Set(publicKeys(code))].slice(0, 40)
  for (const value of tried.flatMap((key) => asValues(seal(key, forgedGrant)))) {
    store.set(storageKey, value)
    isRefused(t, await portal.token({ code }), 'a code')
  }
  const sealingKey = randomBytes(32).toString('base64url')
  for (const value of asValues(seal(sealingKey, forgedGrant))) {
    store.set(keys.ofToken(locator), value)
    isRefused(t, await portal.user(locator + sealingKey), 'a token')
  }
})

t.test('a code of a log line and a copy of the store do not open the record', async (t) => {
  const { code, codeValue } = await signIn(await startApp(t))
  const sealed = codeValue.replace(/^1_.{20}\d+_/, '')
  for (const key of publicKeys(code)) t.equal(open(key, sealed), null)
  const [key = ''] = keys.sealingKeys(code, registered)
  t.match(open(key, sealed), /alice@partner\.example/, 'the secret opens it')
})

t.test('a token of a log line gives no other record, and no later one', async (t) => {
  const app = await startApp(t)
  const { token, codeKey, codeValue, tokenKey, tokenValue, redeemCode, redeemToken } = await signIn(app)
  const sealed = seal(token.slice(NAME_LENGTH), forgedGrant)
  const issuedAt = tokenValue.slice(2 + NAME_LENGTH).split('_')[0] as string
  for (const value of [tokenValue, codeValue]) {
    const fingerprint = value.slice(0, 2 + NAME_LENGTH)
    app.store.set(tokenKey, `${fingerprint}${issuedAt}_${sealed}`)
    isRefused(t, await redeemToken(), 'another record under its sealing key')
    app.store.set(codeKey, `${fingerprint}${sealed}`)
    isRefused(t, await redeemCode(), 'another record under its sealing key')
  }
  app.store.set(tokenKey, tokenValue.replace(issuedAt, String(Number(issuedAt) + 1)))
  isRefused(t, await redeemToken(), 'another time of issue')
  app.store.set(tokenKey, tokenValue)
  t.equal((await redeemToken()).status, 200, 'the value itself is accepted')
})

/** What an attacker may make of a value, and of another one. */
function spoiled (value: string, other: string): string[] {
  const counts = ['', '0', '2', '9999', '9'.repeat(400), '-1', '1e3', '01']
  const rest = value.slice(2)
  const lengths = [1, 2, 3, 22, 23, 24, 40, 60, value.length - 24, value.length - 1]
  return [
    other, value + value, value + other, `${value}A`, value.toLowerCase(), `_${value}`, `${value}\n`, '_', '1_',
    ...counts.flatMap((count) => [`${count}_${rest}`, `${count}_`, `${count}_${rest.repeat(9)}`]),
    ...lengths.map((length) => value.slice(0, length)), '\u{1f600}', '\ud800', '1_\0', 'A'.repeat(400_000)
  ]
}

t.test('values that are exchanged, cut or repeated yield nothing', async (t) => {
  const app = await startApp(t)
  const { codeKey, codeValue, tokenKey, tokenValue, redeemCode, redeemToken } = await signIn(app)
  app.store.clear()
  const other = await signIn(app)
  for (const [key, value, others, redeem] of [
    [codeKey, codeValue, [tokenValue, other.codeValue], redeemCode],
    [tokenKey, tokenValue, [codeValue, other.tokenValue], redeemToken]
  ] as const) {
    for (const forged of others.flatMap((other) => [...spoiled(value, other), ...spoiled(other, value)])) {
      if (forged === value) continue
      app.store.set(key, forged)
      isRefused(t, await redeem(), `${forged.length} characters`)
    }
    app.store.clear()
    app.store.set(key, value)
    t.equal((await redeem()).status, 200, 'the value itself is accepted')
  }
})
