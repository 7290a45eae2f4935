// Someone guesses codes and tokens. They could if the values repeated, if some bits were more often one than zero, or
// if one value told something of the next. Many values: RANDOM_VALUES=1000000.
import { createHash } from 'node:crypto'
import t from 'tap'
import { AccessTokens } from '../../lib/grants/access-token.ts'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import type { RedeemedCode } from '../../lib/grants/authorization-code.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { CODE, LOCATOR, rounds, TOKEN } from './helpers/settings.ts'

const VALUES = rounds('RANDOM_VALUES', 5000)
const portal = new RegisteredPortal(PORTAL)
const user: Pick<Grant, 'codeChallenge' | 'externalId' | 'record'> = {
  codeChallenge: '',
  externalId: 'alice',
  record: '{}'
}

/** Remembers the keys it was given. */
class Keys {
  readonly seen = new Set<string>()
  puts = 0
  #value: string | null = null

  async put (key: string, value: string): Promise<boolean> {
    this.puts++
    this.seen.add(key.slice(0, 12))
    this.#value = value
    return true
  }

  async take (): Promise<string | null> { return this.#value }
  async revoke (): Promise<boolean> { return false }
}

/** The probability that this test fails although every bit is random. */
const FALSE_ALARM = 1e-9

/**
 * The most standard deviations from even that one of `counts` counts may have. Hoeffding's inequality, for a fair coin:
 * a count is `s` or more away with a probability of at most 2 exp(-s * s / 2), and the probabilities of all add up.
 */
const limit = (counts: number): number => Math.sqrt(2 * Math.log(2 * counts / FALSE_ALARM))

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

  /** How many counts `deviations` looks at: each bit, each bit beside its last value, and the sum. */
  get counts (): number {
    return 2 * this.#ones.length + 1
  }

  deviations () {
    const n = this.#count
    const sigma = (ones: number, of: number) => Math.abs(ones - of / 2) / Math.sqrt(of / 4)
    const worst = (counts: Uint32Array) => Math.max(...Array.from(counts, (ones) => sigma(ones, n)))
    const total = this.#ones.reduce((sum, ones) => sum + ones, 0)
    const together = sigma(total, n * this.#ones.length)
    return { worstBit: worst(this.#ones), together, worstRepeat: worst(this.#same) }
  }
}

await t.test(`${VALUES} codes and as many tokens`, async (t) => {
  const store = new Keys()
  const keys = new GrantKeys('')
  const codes = new AuthorizationCodes(store, keys, 60)
  const tokens = new AccessTokens(store, keys, 60)
  const seen = new Set<string>()
  const bits = { code: new Bits(33), token: new Bits(47) }
  let strange = 0
  for (let index = 0; index < VALUES; index++) {
    const code = await codes.issue(portal, user, Infinity)
    const redeemed = await codes.redeem(code, portal, Infinity)
    const token = await tokens.issue(redeemed as RedeemedCode, portal, Infinity) as string
    if (code.length !== CODE || token.length !== TOKEN || /[^A-Za-z0-9_-]/.test(code + token)) strange++
    // Of so many the first 72 bits differ, and a million fit into memory.
    seen.add(code.slice(0, 12)).add(token.slice(0, 12)).add(token.slice(LOCATOR, LOCATOR + 12))
    bits.code.add(code)
    bits.token.add(token)
  }
  t.equal(strange, 0, 'each of them is base64url, 264 and 378 bits long')
  t.equal(seen.size, 3 * VALUES, 'no code, and no part of a token, comes twice')
  t.equal(store.seen.size, store.puts, 'nor do two of them share a place in the store')
  const most = limit(bits.code.counts + bits.token.counts)
  t.comment(`no count may be more than ${most.toFixed(2)} sigma from even`)
  for (const [name, counted] of Object.entries(bits)) {
    const { worstBit, together, worstRepeat } = counted.deviations()
    t.comment(`${name}: all bits together ${together.toFixed(2)} sigma from even, ` +
      `the worst bit ${worstBit.toFixed(2)}, ` +
      `the worst repetition of the last value ${worstRepeat.toFixed(2)}`)
    t.ok(worstBit < most && together < most && worstRepeat < most, `the bits of a ${name} are even`)
  }
})

// The same values in each run: these show that the check works, and leave nothing to chance.
const digest = (index: number, name: string) => createHash('sha384').update(`${name} ${index}`).digest()

/** The deviations of 10,000 values of 48 bytes, changed by `spoil`, and the limit for them. */
function judge (spoil: (bytes: Buffer, index: number, last: Buffer) => void) {
  const bits = new Bits(48)
  let last = digest(-1, 'value')
  for (let index = 0; index < 10_000; index++) {
    const bytes = digest(index, 'value')
    spoil(bytes, index, last)
    bits.add(bytes.toString('base64url'))
    last = bytes
  }
  return { ...bits.deviations(), most: limit(bits.counts) }
}

/** True for one value of ten. */
const oneOfTen = (index: number) => digest(index, 'choice').readUInt16BE() < 0x10000 / 10

await t.test('the check passes even bits', async (t) => {
  const { worstBit, together, worstRepeat, most } = judge(() => {})
  t.ok(Math.max(worstBit, together, worstRepeat) < most)
})

await t.test('the check finds a bit that is one in 55 % of the values', async (t) => {
  const { worstBit, most } = judge((bytes, index) => { if (oneOfTen(index)) bytes[7] = (bytes[7] as number) | 16 })
  t.ok(worstBit > most)
})

await t.test('the check finds a slight excess of ones in all bits', async (t) => {
  const { worstBit, together, most } = judge((bytes, index) => { if (index % 4 === 0) bytes[index / 4 % 48] = 255 })
  t.ok(together > most)
  t.ok(worstBit < most, 'which no single bit shows')
})

await t.test('the check finds a bit that repeats its last value in 55 % of the values', async (t) => {
  const { worstBit, worstRepeat, most } = judge((bytes, index, last) => {
    if (oneOfTen(index)) bytes[7] = ((bytes[7] as number) & ~16) | ((last[7] as number) & 16)
  })
  t.ok(worstRepeat > most)
  t.ok(worstBit < most, 'which its ones do not show')
})
