// Someone reads and writes the store: a neighbour on a shared Redis, an injection beside the PostgreSQL store, a stolen
// backup. The rows are those of "What an attacker has" in .github/SECURITY.md from which he must gain nothing. He knows
// all that is public: client_id, redirect_uri, login_url, level, prefix, this code.
import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { encodeGrant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import type { Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL, RECORDS, startApp } from '../app.ts'
import { randomCode } from '../helpers/never-issued.ts'
import { inProcess } from '../wire.ts'
import type { WireResponse, Wire } from '../wire.ts'

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

  async revoke (key: string): Promise<string | null> {
    return await this.take(key)
  }

  /** The one value that is held now. */
  only (): [key: string, value: string] {
    const [entry] = this
    return entry as [string, string]
  }
}

const keys = new GrantKeys('')
const { information, secrets } = new RegisteredPortal(PORTAL)
const [SECRET] = secrets as [KeyObject]

/** With the secret, anyone seals as the app does. */
const forgedGrant = (): string =>
  encodeGrant({ codeChallenge: '', record: { ...RECORDS.ada, external_id: 'ceo' } })

async function start (t: Test): Promise<{ store: OpenStore, portal: Wire }> {
  const store = new OpenStore()
  const { app } = await startApp(t, { options: { store } })
  return { store, portal: inProcess(app) }
}

/** A code and its token, both unused, with the keys and values that the store held for them. */
async function signIn ({ store, portal }: { store: OpenStore, portal: Wire }) {
  const code = await portal.code()
  const [codeKey, codeValue] = store.only()
  const { json: { access_token: token } } = await portal.token({ code })
  const [tokenKey, tokenValue] = store.only()
  const redeemCode = () => portal.token({ code })
  const redeemToken = () => portal.user(token)
  return { code, token, codeKey, codeValue, tokenKey, tokenValue, redeemCode, redeemToken }
}

/** The response is a refusal: it has no record, and is not a 500. */
function isRefused (t: Test, { status, json }: WireResponse, message: string): void {
  t.strictSame([status, json.error], status === 400 ? [400, 'invalid_grant'] : [401, 'invalid_token'], message)
}

/** Something that he derives from what he knows: a proof that he may send, and a key that may seal. */
interface Derived { proof: string, sealingKey: KeyObject }

/**
 * Everything that he can derive from what he knows as the plugin derives it, with each of it in the place of the client
 * secret and in the place of the locator; and the texts themselves, used as keys.
 */
function derivedFrom (...known: string[]): Derived[] {
  const derive = (secret: string, locator: string): Derived[] => {
    const one = keys.ofSecret(createSecretKey(secret, 'utf8'), locator, information)
    return [one, { proof: one.sealingKey.export().toString('base64url'), sealingKey: asKey(one.proof) }]
  }
  const texts = [...known, PORTAL.clientId, '']
  const derived = texts.flatMap((secret) => texts.flatMap((locator) => derive(secret, locator)))
  return [...derived, ...known.map((text) => ({ proof: text.slice(0, 43).padEnd(43, 'A'), sealingKey: asKey(text) }))]
}

/** The first 32 bytes that a text may represent. */
const asKey = (text: string): KeyObject =>
  createSecretKey(Buffer.concat([Buffer.from(text, 'base64url'), Buffer.alloc(32)]).subarray(0, 32))

/** The parts of a token, and the token. */
const partsOf = (token: string): string[] => [token.slice(0, 43), token.slice(43, 86), token]

const tokenOf = (locator: string, proof: string): string =>
  locator + proof + Buffer.from(PORTAL.clientId).toString('base64url')

type Attack = (t: Test) => Promise<void>

/** What an attacker has, and how it is shown that he gets no more than SECURITY says. */
const attacks: Record<string, Attack> = {
  async 'reads the store, in every backup, and has every code and token, used or not' (t) {
    const { code, token, codeKey, codeValue, tokenKey, tokenValue } = await signIn(await start(t))
    for (const { proof, sealingKey } of derivedFrom(codeKey, tokenKey, code, ...partsOf(token))) {
      t.strictSame([open([sealingKey], codeValue), open([sealingKey], tokenValue)], [null, null], proof)
    }
  },

  async 'writes the store' (t) {
    const { store, portal } = await start(t)
    const code = randomCode()
    const locator = keys.locator(code, information)
    for (const { proof, sealingKey } of derivedFrom(code, locator)) {
      store.set(keys.codeStorageKey(code, information), seal([sealingKey], forgedGrant()))
      isRefused(t, await portal.token({ code }), `a code that he made, beside the proof ${proof}`)
      store.clear()
      store.set(keys.tokenStorageKey(locator), seal([sealingKey], forgedGrant()))
      isRefused(t, await portal.user(tokenOf(locator, proof)), `a token that he made, with the proof ${proof}`)
      t.equal(store.size, 1, `a token without a proof reaches no store: ${proof}`)
      store.clear()
    }
  },

  async 'writes the store, and has every code and token, used or not' (t) {
    const app = await start(t)
    const { code, token, codeKey, tokenKey, redeemCode, redeemToken } = await signIn(app)
    for (const { sealingKey } of derivedFrom(code, ...partsOf(token))) {
      for (const [place, redeem] of [[codeKey, redeemCode], [tokenKey, redeemToken]] as const) {
        app.store.clear()
        app.store.set(place, seal([sealingKey], forgedGrant()))
        isRefused(t, await redeem(), 'another record')
      }
    }
  },

  async 'the client secret, and reads the store' (t) {
    const { codeKey, codeValue, tokenKey } = await signIn(await start(t))
    for (const known of [codeKey, tokenKey]) {
      const { sealingKey } = keys.ofSecret(SECRET, known, information)
      t.equal(open([sealingKey], codeValue), null, `no record without its code: by ${known}`)
    }
  }
}

for (const [has, attack] of Object.entries(attacks)) t.test(has, attack)
