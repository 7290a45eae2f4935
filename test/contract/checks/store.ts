// What an attacker gains who reads and writes the store and has no client secret.
import type { Test } from 'tap'
import type { Portal } from '../../../lib/index.ts'
import { CHALLENGE, challenge, VERIFIER } from '../../helpers/wire.ts'
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
  const before = await store.read()
  // So long that they do not occur by chance.
  const code = await at.code('alice.anderson', challenge())
  const token = (await at.token({
    code: await at.code('bob.robertson', challenge()), code_verifier: VERIFIER
  })).json.access_token as string
  const added = [...await store.read()].filter(([key]) => !before.has(key))
  t.equal(added.length, 2, 'a code and a token')
  const dump = added.flat()
  const texts = [...dump, ...dump.map((text) => Buffer.from(text, 'base64url').toString('latin1'))].join('\n')
  const personal = [
    'alice.anderson', 'bob.robertson', 'partner.example', 'Name of', 'external_id', portal.clientId, portal.redirectUri,
    CHALLENGE
  ]
  const parts = [code, token].flatMap((value) =>
    Array.from({ length: value.length - 16 }, (_, index) => value.slice(index, index + 16)))
  t.strictSame([...parts, ...personal, portal.clientSecret].filter((text) => texts.includes(text)), [])
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

/** The text with one character changed in its highest bit. */
function changed (text: string, index: number): string {
  const other = ALPHABET[(ALPHABET.indexOf(text.charAt(index)) + 32) % 64] as string
  return text.slice(0, index) + other + text.slice(index + 1)
}

/** Formats of values that another version of the plugin could write. */
const formats: Record<string, (sealed: string) => string> = {
  'a version before it': (sealed) => sealed.split('.').map((copy) => `v2${copy}`).join('.'),
  'another separator': (sealed) => sealed.split('.').map((copy) => `${copy}-`).join(''),
  JSON: (sealed) => JSON.stringify({ sealed }),
  'no copy': () => 'AA'
}

/** A value that was changed, that has another format, or is stored under another key, opens nothing. */
export async function changedValues (t: Test, subject: Subject): Promise<void> {
  const { at, store } = await subject.another({ portal: { clientSecret: subject.portal.clientSecret } })
  const added = <T>(make: () => Promise<T>) => addedBy(store, make)
  const [mine, first, one] = await added(() => at.code('mallory'))
  const [others, second, two] = await added(() => at.code('alice'))
  await store.write(first, two)
  await store.write(second, one)
  refuses(t, await at.token({ code: mine }), 400, 'invalid_grant')
  refuses(t, await at.token({ code: others }), 400, 'invalid_grant')

  const length = (await added(() => at.accessToken()))[2].length
  for (const index of [0, 3, 5, 11, 19, 20, 21, 40, 100, length - 22, length - 2, length - 1]) {
    const [token, key, value] = await added(() => at.accessToken())
    await store.write(key, changed(value, index))
    refuses(t, await at.user(token), 401, 'invalid_token', `a value with character ${index} changed`)
  }
  for (const [format, written] of Object.entries(formats)) {
    const [code, atCode, sealed] = await added(() => at.code())
    await store.write(atCode, written(sealed))
    refuses(t, await at.token({ code }), 400, 'invalid_grant', format)
    const [token, atToken, resealed] = await added(() => at.accessToken())
    await store.write(atToken, written(resealed))
    refuses(t, await at.user(token), 401, 'invalid_token', format)
  }
}

/** A changed token is refused, and leaves the issued one good. */
export async function changedTokens (t: Test, { at, events }: Subject): Promise<void> {
  const token = await at.accessToken()
  // Locator, proof and client_id each end in a character with bits that a decoder ignores.
  const spare = [42, 85, token.length - 1].map((at) =>
    token.slice(0, at) + ALPHABET[ALPHABET.indexOf(token.charAt(at)) ^ 1] + token.slice(at + 1))
  const made = [
    ...[0, 20, 42, 43, 60, 85, 86, token.length - 1].map((index) => changed(token, index)),
    token.slice(0, -1), token.slice(0, 86), token.slice(43), `${token}A`, `${token}=`, token + token, ...spare
  ]
  events()
  for (const forged of made) {
    refuses(t, await at.user(forged), 401, 'invalid_token', forged)
    const [{ requestId, ...event } = { requestId: '' }] = events()
    t.strictSame(event, { type: 'request_rejected', reason: 'token_unknown' }, `nothing is known of it: ${forged}`)
  }
  t.equal((await at.user(token)).status, 200)
}

/** A value that is written back late, or was issued in the future, is refused. Clocks may differ by five minutes. */
export async function writtenBack (t: Test, { at, store }: Subject): Promise<void> {
  t.teardown(() => clock.back())
  const GRACE = 300
  const { codeLifetime, tokenLifetime } = LIFETIMES
  for (const skew of [-GRACE - 5, -GRACE * 200]) {
    const [code, token] = [await at.code(), await at.accessToken()]
    clock.setDate(skew)
    refuses(t, await at.token({ code }), 400, 'invalid_grant', `issued ${-skew} seconds from now`)
    refuses(t, await at.user(token), 401, 'invalid_token', `issued ${-skew} seconds from now`)
    clock.back()
  }
  for (const skew of [-GRACE + 5, GRACE - 5]) {
    const code = await at.code()
    clock.setDate(skew)
    const issued = await at.token({ code })
    t.equal(issued.status, 200, `clocks ${skew} seconds apart`)
    t.equal((await at.user(issued.json.access_token)).status, 200, `clocks ${skew} seconds apart`)
    clock.back()
  }
  const [code, key, value] = await addedBy(store, () => at.code())
  clock.setDate(codeLifetime + GRACE + 5)
  await store.write(key, value)
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
  clock.back()
  const early = await at.accessToken()
  clock.setDate(codeLifetime + tokenLifetime + GRACE - 5)
  t.equal((await at.user(early)).status, 200)
  clock.back()
  const token = await at.accessToken()
  clock.setDate(codeLifetime + tokenLifetime + GRACE + 5)
  refuses(t, await at.user(token), 401, 'invalid_token')
}

/** A revocation survives any number of forged tokens: the code, written back, gets no token. */
export async function marks (t: Test, { at, events, store }: Subject): Promise<void> {
  const [code, key, value] = await addedBy(store, () => at.code())
  const { access_token: token } = (await at.token({ code })).json
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
  for (const forged of [changed(token, 50), token.slice(0, -4) + 'AAAA']) {
    refuses(t, await at.user(forged), 401, 'invalid_token')
  }
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
  const unavailable = { type: 'store_unavailable', reason: 'store_unavailable' }
  t.strictSame(seen.map(({ requestId, ...event }) => event),
    [{ ...unavailable, clientId, externalId: 'alice' }, { ...unavailable, clientId, signInId: ofCode },
      { ...unavailable, clientId, signInId: ofToken }])
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
  const ids: unknown[] = []
  for (const user of ['alice', 'bob']) {
    events()
    const code = await at.code(user)
    const wrongUri = { code, redirect_uri: `${portal.redirectUri}x` }
    await at.token(wrongUri)
    const { access_token: token } = (await at.token({ code })).json
    await at.user(token)
    await at.user(token)
    await at.token({ code })
    const seen = events()
    t.strictSame(seen.map(({ reason }) => reason),
      ['ok', 'redirect_uri_mismatch', 'ok', 'ok', 'token_unknown', 'code_unknown'], user)
    later.events()
    await later.at.token({ code })
    seen.push(...later.events())
    const [{ signInId = '' } = {}] = seen
    t.match(signInId, /^[\w-]{20}$/, user)
    t.notOk(`${code} ${token}`.includes(signInId), user)
    t.strictSame(new Set(seen.map(({ signInId }) => signInId)), new Set([signInId]), user)
    ids.push(signInId)
    await at.token({ code, client_secret: 'wrong' })
    await at.token({ code: 'malformed' })
    t.strictSame(events().map(({ signInId }) => signInId), [undefined, undefined], user)
  }
  t.not(ids[0], ids[1])
}
