// Someone guesses codes and tokens. They could if the values repeated, if some bits were more often one than zero, or if
// one value told something of the next. Many values: RANDOM_VALUES=1000000.
import t from 'tap'
import { AccessTokens } from '../../lib/grants/access-token.ts'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import { type Grant } from '../../lib/grants/grant.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { CODE, LOCATOR, rounds, TOKEN } from './helpers/settings.ts'

const VALUES = rounds('RANDOM_VALUES', 20_000)
const portal = new RegisteredPortal(PORTAL)
const grant: Grant = { clientId: PORTAL.clientId, level: 'partner', codeChallenge: '', externalId: 'alice', record: '{}' }

/** Remembers the keys it was given. */
class Keys {
  readonly seen = new Set<string>()
  puts = 0
  async put (key: string): Promise<boolean> {
    this.puts++
    this.seen.add(key.slice(0, 12))
    return true
  }

  async take (): Promise<null> { return null }
  async revoke (): Promise<boolean> { return false }
}

/** How far from even the bits are, in standard deviations: the worst single bit, all together, and equal neighbours. */
class Bits {
  readonly #ones: Uint32Array
  readonly #same: Uint32Array
  readonly #last: Buffer
  #count = 0

  constructor (bytes: number) {
    this.#ones = new Uint32Array(bytes * 8)
    this.#same = new Uint32Array(bytes * 8)
    this.#last = Buffer.alloc(bytes)
  }

  add (value: string): void {
    const bytes = Buffer.from(value, 'base64url')
    for (let index = 0; index < this.#ones.length; index++) {
      const bit = (bytes[index >> 3] as number) >> (index & 7) & 1
      const last = (this.#last[index >> 3] as number) >> (index & 7) & 1
      this.#ones[index] = (this.#ones[index] as number) + bit
      this.#same[index] = (this.#same[index] as number) + Number(bit === last)
    }
    bytes.copy(this.#last)
    this.#count++
  }

  deviations () {
    const n = this.#count
    const sigma = (ones: number, of: number) => Math.abs(ones - of / 2) / Math.sqrt(of / 4)
    const worst = (counts: Uint32Array) => Math.max(...Array.from(counts, (ones) => sigma(ones, n)))
    const total = this.#ones.reduce((sum, ones) => sum + ones, 0)
    return { worstBit: worst(this.#ones), together: sigma(total, n * this.#ones.length), worstRepeat: worst(this.#same) }
  }
}

await t.test(`${VALUES} codes and as many tokens`, async (t) => {
  const keys = new Keys()
  const codes = new AuthorizationCodes(keys, 60, '')
  const tokens = new AccessTokens(keys, 60, '')
  const seen = new Set<string>()
  const bits = { code: new Bits(66), token: new Bits(81) }
  let strange = 0
  for (let index = 0; index < VALUES; index++) {
    const code = await codes.issue(portal, grant, Infinity)
    const { locator } = await codes.redeem(code, portal, Infinity)
    const token = await tokens.issue(locator, grant, Infinity) as string
    if (code.length !== CODE || token.length !== TOKEN || /[^A-Za-z0-9_-]/.test(code + token)) strange++
    // Of so many the first 72 bits differ, and a million fit into memory.
    seen.add(code.slice(0, 12)).add(token.slice(0, 12)).add(token.slice(LOCATOR, LOCATOR + 12))
    bits.code.add(code)
    bits.token.add(token)
  }
  t.equal(strange, 0, 'each of them is base64url, 528 and 648 bits long')
  t.equal(seen.size, 3 * VALUES, 'no code, and no part of a token, comes twice')
  t.equal(keys.seen.size, keys.puts, 'nor do two of them share a place in the store')
  for (const [name, counted] of Object.entries(bits)) {
    const { worstBit, together, worstRepeat } = counted.deviations()
    t.comment(`${name}: all bits together ${together.toFixed(2)} sigma from even, the worst bit ${worstBit.toFixed(2)}, the worst repetition of the last value ${worstRepeat.toFixed(2)}`)
    // Of 648 bits the worst is past 6 sigma once in 600,000 runs, and the sum past 6 once in 500 million.
    t.ok(worstBit < 6 && together < 6 && worstRepeat < 6, `the bits of a ${name} are even`)
  }
})

await t.test('the check finds a bit that is uneven', async (t) => {
  const bits = new Bits(48)
  for (let index = 0; index < 5000; index++) {
    const bytes = Buffer.from(Array.from({ length: 48 }, () => Math.random() * 256))
    if (Math.random() < 0.1) bytes[7] = (bytes[7] as number) | 16
    bits.add(bytes.toString('base64url'))
  }
  t.ok(bits.deviations().worstBit > 6)
})
