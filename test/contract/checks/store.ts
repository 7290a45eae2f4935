// What an attacker gains who reads and writes the store and has no client secret. More: attacks/hostile-store.
import type { Test } from 'tap'
import { RECORDS } from '../../app.ts'
import { CHALLENGE, challenge } from '../../wire.ts'
import { refuses } from '../replies.ts'
import type { StoreAccess } from '../stores.ts'
import { LIFETIMES } from '../subject.ts'
import type { Subject } from '../subject.ts'

/** What a call returns, and the key and value that it has stored. */
type Stored = [made: string, key: string, value: string]

async function storing (store: StoreAccess, make: () => Promise<string>): Promise<Stored> {
  const before = await store.read()
  const made = await make()
  const added = [...await store.read()].find(([key]) => !before.has(key))
  if (added === undefined) throw new Error('It has stored nothing')
  return [made, ...added]
}

/** The parts of a text that are so long that they do not occur by chance. */
const partsOf = (text: string): string[] => {
  return Array.from({ length: text.length - 15 }, (_, index) => text.slice(index, index + 16))
}

/** The store has no part of a code or token, and nothing that names a user or a portal. */
export async function unreadable (t: Test, { at, portal, store }: Subject): Promise<void> {
  const [token, ...ofToken] = await storing(store, () => at.accessToken('bob'))
  const [code, ...ofCode] = await storing(store, () => at.code('ada', challenge()))
  const dump = [...ofToken, ...ofCode]
  const decoded = dump.map((text) => Buffer.from(text, 'base64url').toString('latin1'))
  const text = [...dump, ...decoded].join('\n')
  const secrets = [
    ...partsOf(code),
    ...partsOf(token),
    RECORDS.ada.email,
    RECORDS.ada.name,
    RECORDS.bob.email,
    RECORDS.bob.name,
    'external_id',
    portal.clientId,
    portal.clientSecret,
    portal.redirectUri,
    CHALLENGE
  ]
  t.strictSame(secrets.filter((secret) => text.includes(secret)), [])
}

/** Seconds by which clocks may differ. */
const GRACE = 300
const LATE = LIFETIMES.codeLifetime + GRACE
const TOKEN_LATE = LATE + LIFETIMES.tokenLifetime

/**
 * A code or token that is written back so many seconds after its code was issued, and the status of its request. The
 * clock goes on meanwhile: where it would decide, a minute is far more than that takes.
 */
const ages: Array<[what: 'code' | 'token', seconds: number, status: number]> = [
  ['code', -GRACE - 60, 400],
  ['code', 5 - GRACE, 200],
  ['code', LATE + 5, 400],
  ['token', TOKEN_LATE - 60, 200],
  ['token', TOKEN_LATE + 5, 401]
]

/** A value that is written back late, or was issued in the future, is refused. */
export async function writtenBack (t: Test, { at, clocks, store }: Subject): Promise<void> {
  for (const [what, seconds, status] of ages) {
    const isCode = what === 'code'
    const [given, key, value] = await storing(store, () => isCode ? at.code() : at.accessToken())
    clocks.setDate(seconds)
    await store.write(key, value)
    const response = await (isCode ? at.token({ code: given }) : at.user(given))
    t.equal(response.status, status, `a ${what} after ${seconds} seconds`)
    clocks.setDate(0)
  }
}

/** A revocation survives a forged token: the code, written back, gets no token. */
export async function marks (t: Test, { at, events, store }: Subject): Promise<void> {
  const [code, key, value] = await storing(store, () => at.code())
  const { access_token: token } = (await at.token({ code })).json
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
  const [locator, ofClient] = [token.slice(0, 43), token.slice(86)]
  refuses(t, await at.user(locator + locator + ofClient), 401, 'invalid_token', 'a forged one')
  await store.write(key, value)
  events()
  refuses(t, await at.token({ code }), 400, 'invalid_grant')
  t.match(events(), [{ type: 'code_replayed', externalId: 'u-1' }])
  refuses(t, await at.user(token), 401, 'invalid_token')
}

/** The store is unavailable: 503 and Retry-After; the event names the portal and the sign-in. */
export async function storeAway (t: Test, subject: Subject): Promise<void> {
  const away = async (): Promise<never> => { throw new Error('zzz-cause at zzz-host:6379') }
  const options = { store: { put: away, take: away, revoke: away }, redis: undefined }
  const { at, events, lines, lowestLevel, portal: { clientId } } = await subject.another({ options })
  const token = await subject.at.accessToken()
  const code = await subject.at.code()
  const ids = subject.events().slice(-3).map(({ signInId }) => signInId)
  for (const response of [await at.user(token), await at.token({ code })]) {
    refuses(t, response, 503, 'temporarily_unavailable')
    t.equal(response.headers.get('retry-after'), '1', response.request)
    t.notMatch(JSON.stringify([response.text, ...response.headers]), 'zzz', response.request)
  }
  const unavailable = { type: 'store_unavailable', reason: 'store_unavailable', clientId }
  t.strictSame(events().map(({ requestId, ...event }) => event), [
    { ...unavailable, signInId: ids[0] },
    { ...unavailable, signInId: ids[2] }
  ])
  if (lowestLevel <= 30) t.match(JSON.stringify(lines()), 'zzz-cause', 'the cause is logged')
}
