// What an attacker gains who reads and writes the store and has no client secret.
import type { Test } from 'tap'
import type { Portal } from '../../../lib/index.ts'
import { CHALLENGE, challenge } from '../../helpers/wire.ts'
import type { WireResponse } from '../../helpers/wire.ts'
import { clock } from '../../helpers/shifted-clocks.ts'
import { refuses } from '../replies.ts'
import type { StoreAccess } from '../stores.ts'
import { LIFETIMES } from '../subject.ts'
import type { Subject } from '../subject.ts'

/** The result of the call, and the key and value that it has stored. */
async function addedBy<T> (store: StoreAccess, make: () => Promise<T>): Promise<[made: T, key: string, value: string]> {
  const before = await store.read()
  const made = await make()
  const [[key, value] = ['', '']] = [...await store.read()].filter(([key]) => !before.has(key))
  return [made, key, value]
}

/** The store has no part of a code or token, and nothing that names a user or a portal. */
export async function unreadable (t: Test, { at, portal, store }: Subject): Promise<void> {
  const [token, ...ofToken] = await addedBy(store, () => at.accessToken('bob.robertson'))
  const [code, ...ofCode] = await addedBy(store, () => at.code('alice.anderson', challenge()))
  const dump = [...ofToken, ...ofCode]
  t.notOk(dump.includes(''), 'a code and a token')
  const texts = [...dump, ...dump.map((text) => Buffer.from(text, 'base64url').toString('latin1'))].join('\n')
  // So long that they do not occur by chance.
  const parts = [code, token].flatMap((value) =>
    Array.from({ length: value.length - 16 }, (_, index) => value.slice(index, index + 16)))
  const { clientId, clientSecret, redirectUri } = portal
  const personal = ['alice.anderson', 'bob.robertson', 'partner.example', 'Name of', 'external_id']
  const all = [...parts, ...personal, clientId, clientSecret, redirectUri, CHALLENGE]
  t.strictSame(all.filter((text) => texts.includes(text)), [])
}

/** Neither of two apps with different secrets can open the records of the other. */
export async function forged (t: Test, subject: Subject): Promise<void> {
  const { at, recordOf } = subject
  const guess: Partial<Portal> = { clientSecret: 'a guessed secret' }
  const attacker = await subject.another({ portal: guess })
  attacker.behaviour.portalEligibility = () => ({ ...recordOf('mallory'), name: 'a stranger' })
  refuses(t, await at.token({ code: await attacker.at.code() }), 400, 'invalid_grant')
  refuses(t, await at.user(await attacker.at.accessToken()), 401, 'invalid_token')
  refuses(t, await attacker.at.token({ code: await at.code() }), 400, 'invalid_grant')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The text with one bit of a character changed: by default the highest. */
function changed (text: string, index: number, bit = 32): string {
  const other = ALPHABET[ALPHABET.indexOf(text.charAt(index)) ^ bit]
  return text.slice(0, index) + other + text.slice(index + 1)
}

type Spoil = (copy: string) => string

/** What becomes of each copy in a value: changed, or of another version of the plugin. */
const spoilings: Spoil[] = [(copy) => changed(copy, 40), (copy) => `v2${copy}`, () => 'AA']

/** A value that was changed, or is stored under another key, opens nothing. */
export async function changedValues (t: Test, { at, store }: Subject): Promise<void> {
  const [mine, first, one] = await addedBy(store, () => at.code('mallory'))
  const [others, second, two] = await addedBy(store, () => at.code('alice'))
  await store.write(first, two)
  await store.write(second, one)
  refuses(t, await at.token({ code: mine }), 400, 'invalid_grant')
  refuses(t, await at.token({ code: others }), 400, 'invalid_grant')
  for (const spoil of spoilings) {
    const [token, key, sealed] = await addedBy(store, () => at.accessToken())
    await store.write(key, sealed.split('.').map(spoil).join('.'))
    refuses(t, await at.user(token), 401, 'invalid_token', String(spoil))
  }
}

/** A changed token is refused, and leaves the issued one good. */
export async function changedTokens (t: Test, { at, events }: Subject): Promise<void> {
  const token = await at.accessToken()
  // Locator, proof and client_id each end in a character with bits that a decoder ignores.
  const ends = [42, 85, token.length - 1]
  const made = [
    ...[0, 43, 86, ...ends].map((index) => changed(token, index)),
    ...ends.map((index) => changed(token, index, 1)),
    token.slice(0, 86),
    `${token}A`,
    `${token}=`
  ]
  events()
  for (const forged of made) {
    refuses(t, await at.user(forged), 401, 'invalid_token', forged)
    const [{ requestId, ...event } = { requestId: '' }] = events()
    t.strictSame(event, { type: 'request_rejected', reason: 'token_unknown' }, `nothing is known of it: ${forged}`)
  }
  t.equal((await at.user(token)).status, 200)
}

/** Seconds by which clocks may differ. */
const GRACE = 300
const LATE = LIFETIMES.codeLifetime + GRACE
const TOKEN_LATE = LATE + LIFETIMES.tokenLifetime

/** A code or token that is written back so many seconds after its code was issued, and the status of its request. */
const ages: Array<[what: 'code' | 'token', seconds: number, status: number]> = [
  ['code', -GRACE - 5, 400],
  ['code', 5 - GRACE, 200],
  ['code', LATE + 5, 400],
  ['token', -GRACE - 5, 401],
  ['token', TOKEN_LATE - 5, 200],
  ['token', TOKEN_LATE + 5, 401]
]

/** A value that is written back late, or was issued in the future, is refused. */
export async function writtenBack (t: Test, { at, store }: Subject): Promise<void> {
  t.teardown(() => clock.back())
  for (const [what, seconds, status] of ages) {
    const [given, key, value] = await addedBy(store, () => what === 'code' ? at.code() : at.accessToken())
    clock.setDate(seconds)
    await store.write(key, value)
    const response = what === 'code' ? await at.token({ code: given }) : await at.user(given)
    t.equal(response.status, status, `a ${what} after ${seconds} seconds`)
    clock.back()
  }
}

/** A revocation survives any number of forged tokens: the code, written back, gets no token. */
export async function marks (t: Test, { at, events, store }: Subject): Promise<void> {
  const [code, key, value] = await addedBy(store, () => at.code())
  const { access_token: token } = (await at.token({ code })).json
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
  refuses(t, await at.user(changed(token, 50)), 401, 'invalid_token', 'a forged one')
  await store.write(key, value)
  events()
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
  t.match(events(), [{ type: 'code_replayed', externalId: 'alice' }])
  refuses(t, await at.user(token), 401, 'invalid_token')
}

/** The store is unavailable: 503 and Retry-After; the event names the portal and the user, where they are known. */
export async function storeAway (t: Test, subject: Subject): Promise<void> {
  const away = async (): Promise<never> => { throw new Error('zzz-cause at zzz-host:6379') }
  const [code, token] = [await subject.at.code(), await subject.at.accessToken()]
  const issued = subject.events().flatMap(({ type, signInId }) => type === 'code_issued' ? [signInId] : [])
  const [ofCode, ofToken] = issued.slice(-2)
  const options = { store: { put: away, take: away, revoke: away }, redis: undefined, keyPrefix: undefined }
  const { at, events, lines, lowestLevel, portal: { clientId } } = await subject.another({ options })
  const authorized = await at.authorize()
  t.equal(authorized.redirect.get('error'), 'temporarily_unavailable')
  const responses = [await at.token({ code }), await at.user(token)]
  for (const response of responses) {
    refuses(t, response, 503, 'temporarily_unavailable')
    t.equal(response.headers.get('retry-after'), '1', response.request)
  }
  const seen = events()
  const unavailable = { type: 'store_unavailable', reason: 'store_unavailable', clientId }
  t.strictSame(seen.map(({ requestId, ...event }) => event), [
    { ...unavailable, externalId: 'alice' },
    { ...unavailable, signInId: ofCode },
    { ...unavailable, signInId: ofToken }
  ])
  const sent = [authorized, ...responses].map(({ headers, text }) => [...headers, text])
  t.notMatch(JSON.stringify([seen, sent]), 'zzz')
  if (lowestLevel <= 30) t.match(JSON.stringify(lines()), 'zzz-cause', 'the cause is logged')
  refuses(t, await at.user('x'), 401, 'invalid_token')
  refuses(t, await at.token({ code: 'x' }), 400, 'invalid_grant')
}

/** A replay that comes after the code was taken and before its token is put: no token is issued. */
export async function overtaken (t: Test, { at, events, store }: Subject): Promise<void> {
  const code = await at.code()
  events()
  store.onTaken = async () => {
    store.onTaken = undefined
    await at.token({ code })
  }
  const responses: WireResponse[] = []
  await clock.still(async () => { responses.push(await at.token({ code })) })
  if (store.onTaken !== undefined) {
    // The store is out of reach of this test: two requests at once, in any order.
    store.onTaken = undefined
    responses.push(await at.token({ code }))
    const issued = responses.find(({ status }) => status === 200)
    refuses(t, await at.user(issued?.json.access_token), 401, 'invalid_token')
    return
  }
  refuses(t, responses[0] as WireResponse, 400, 'invalid_grant')
  t.match(events().at(-1), { type: 'code_replayed', externalId: 'alice' })
}

/** All events of a sign-in have one id, from the code to a late replay. It is not a part of the code or token. */
export async function signInIds (t: Test, subject: Subject): Promise<void> {
  const { at, events, portal } = subject
  const later = await subject.another({ portal: { loginUrl: 'https://portal.example/new' } })
  const seen = (): Array<{ reason: string, signInId?: string }> => [...events(), ...later.events()]
  const ids = new Set<unknown>()
  for (const user of ['alice', 'bob']) {
    seen()
    const code = await at.code(user)
    await at.token({ code, redirect_uri: `${portal.redirectUri}x` })
    const { access_token: token } = (await at.token({ code })).json
    await at.user(token)
    await at.user(token)
    await at.token({ code })
    await later.at.token({ code })
    const all = seen()
    t.strictSame(all.map(({ reason }) => reason),
      ['ok', 'redirect_uri_mismatch', 'ok', 'ok', 'token_unknown', 'code_unknown', 'code_unknown'], user)
    const [{ signInId = '' } = {}] = all
    t.match(signInId, /^[\w-]{20}$/, user)
    t.notOk(`${code} ${token}`.includes(signInId), user)
    t.strictSame(new Set(all.map(({ signInId }) => signInId)), new Set([signInId]), user)
    ids.add(signInId)
    await at.token({ code, client_secret: 'wrong' })
    await at.token({ code: 'malformed' })
    t.strictSame(seen().map(({ signInId }) => signInId), [undefined, undefined], user)
  }
  t.equal(ids.size, 2)
}
