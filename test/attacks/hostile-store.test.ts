// Someone reads and writes the store: a neighbour on a shared Redis, an injection beside the PostgreSQL store, a stolen
// backup. The rows are those of "What an attacker has" in .github/SECURITY.md from which he must gain nothing. He knows
// all that is public: client_id, redirect_uri, login_url, level, prefix, this code.
import t from 'tap'
import type { Test } from 'tap'
import { encodeGrant } from '../../lib/grants/grant.ts'
import { grantKeys } from '../../lib/grants/keys.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import type { Store } from '../../lib/index.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { randomCode } from '../helpers/never-issued.ts'
import { inProcess } from '../helpers/wire.ts'
import type { WireResponse, Wire } from '../helpers/wire.ts'

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

const keys = grantKeys('')
const registered = registeredPortal(PORTAL)
const [CREDENTIAL = ''] = registered.credentials

/** With the secret, anyone seals as the app does. */
const forgedGrant = (): string =>
  encodeGrant({ codeChallenge: '', record: recordOf('ceo') })

async function startApp (t: Test): Promise<{ store: OpenStore, portal: Wire }> {
  const store = new OpenStore()
  const { app } = await startHost(t, { store })
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

/** All keys that can be derived from what he knows, with every text that may be the secret. */
function publicKeys (...known: string[]): string[] {
  const infos = ['', JSON.stringify(PORTAL.clientId), `["${PORTAL.clientId}",""]`, registered.binding]
  return known.flatMap((text) => infos.flatMap((info) => {
    const { proof, sealingKey } = keys.ofSecret(text, info)
    return [proof, sealingKey, keys.ofSecret(proof, info).sealingKey]
  }))
}

/** The parts of a token, and the token. */
const partsOf = (token: string): string[] => [token.slice(0, 43), token.slice(43, 86), token]

const tokenOf = (locator: string, proof: string): string =>
  locator + proof + Buffer.from(PORTAL.clientId).toString('base64url')

type Attack = (t: Test) => Promise<void>

/** What an attacker has, and how it is shown that he gets no more than SECURITY says. */
const attacks: Record<string, Attack> = {
  async 'reads the store, in every backup, and has every code and token, used or not' (t) {
    const { code, token, codeKey, codeValue, tokenKey, tokenValue } = await signIn(await startApp(t))
    for (const key of publicKeys(codeKey, tokenKey, code, ...partsOf(token))) {
      t.strictSame([open([key], codeValue), open([key], tokenValue)], [null, null], key)
    }
  },

  async 'writes the store' (t) {
    const { store, portal } = await startApp(t)
    const code = randomCode()
    const locator = keys.locator(code, registered)
    for (const key of publicKeys(code, locator, '')) {
      store.set(keys.codeKey(code, registered), seal([key], forgedGrant()))
      isRefused(t, await portal.token({ code }), `a code that he made under ${key}`)
      store.clear()
      store.set(keys.ofToken(locator).tokenKey, seal([key], forgedGrant()))
      isRefused(t, await portal.user(tokenOf(locator, key)), `a token that he made under ${key}`)
      t.equal(store.size, 1, `a token without a proof reaches no store: ${key}`)
      store.clear()
    }
  },

  async 'writes the store, and has every code and token, used or not' (t) {
    const app = await startApp(t)
    const { code, token, codeKey, tokenKey, redeemCode, redeemToken } = await signIn(app)
    for (const key of publicKeys(code, ...partsOf(token))) {
      for (const [place, redeem] of [[codeKey, redeemCode], [tokenKey, redeemToken]] as const) {
        app.store.clear()
        app.store.set(place, seal([key], forgedGrant()))
        isRefused(t, await redeem(), 'another record')
      }
    }
  },

  async 'the client secret, and reads the store' (t) {
    const { codeKey, codeValue, tokenKey } = await signIn(await startApp(t))
    for (const known of [codeKey, tokenKey]) {
      const { sealingKey } = keys.ofSecret(known, CREDENTIAL)
      t.equal(open([sealingKey], codeValue), null, `no record without its code: by ${known}`)
    }
  }
}

for (const [has, attack] of Object.entries(attacks)) t.test(has, attack)
