// Someone who writes the store measures how long a value of his takes to be refused. If the time depended on how much
// of it agrees with something that is derived from the secret, he would learn that piece by piece. (The version before
// compared fingerprints by String.includes: two values of one length took 35 and 705 µs, and a sign-in was forged in 39
// seconds.) Two hostile values of one length are compared here, one that agrees with nothing, and one that agrees with
// all but the end of what is secret: proof, sealing key, tag. Processor time, as a ratio: an absolute time would judge
// the machine.
import t from 'tap'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { randomCode } from '../helpers/random-code.ts'

/** Bytes of the copies of a value, whose number divides it. */
const LENGTH = 9 * 11 * 160
/** How much longer one of two equal values may seem to take. A comparison that ends early: twenty times. */
const MOST = 2
/** Microseconds that processor time is exact to. */
const GRAIN = 50
const ROUNDS = 40

const keys = new GrantKeys('')
const portal = new RegisteredPortal(PORTAL)
const [credential = ''] = portal.credentials
const locator = keys.locator(randomCode(), portal)
const proof = keys.proof(locator, credential)
const sealingKey = keys.sealingKey(proof, credential)
const sealed = seal([sealingKey], 'text'.repeat(100))

/** So many copies, full of bytes that are right up to the last one, or wrong from the first. */
const filled = (count: number, part: string, isNearlyRight: boolean): string => {
  const bytes = Buffer.from(part, 'base64url')
  const wrong = Buffer.from(bytes.map((byte, index) => isNearlyRight && index < bytes.length - 1 ? byte : byte ^ 1))
  return Buffer.concat([Buffer.of(count), Buffer.alloc(LENGTH, wrong)]).toString('base64url')
}

/** The least processor time that refusing the value has taken, in microseconds. */
function leastTimes (values: string[]): number[] {
  const least = values.map(() => Infinity)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, value] of values.entries()) {
      const before = process.cpuUsage()
      for (let count = 0; count < 5; count++) if (open([sealingKey], value) !== null) throw new Error('It was opened')
      const { user, system } = process.cpuUsage(before)
      least[index] = Math.min(least[index] as number, user + system)
    }
  }
  return least
}

for (const [name, part] of Object.entries({ proof, 'sealing key': sealingKey, 'sealed copy': sealed, locator })) {
  for (const count of [1, 9, 99]) {
    t.test(`${count} copies: a value full of the ${name}, but for the last byte`, async (t) => {
      const [near = 0, far = 0] = leastTimes([filled(count, part, true), filled(count, part, false)])
      t.ok(near < MOST * far + GRAIN && far < MOST * near + GRAIN, `${near} and ${far} µs`)
    })
  }
}

t.test('a tag that is wrong in its first byte or in its last', async (t) => {
  const bytes = Buffer.from(seal([sealingKey], 'x'.repeat(16_000)), 'base64url')
  const values = [-16, -1].map((place) => {
    const changed = Buffer.from(bytes)
    changed[changed.length + place] = (changed.at(place) as number) ^ 1
    return changed.toString('base64url')
  })
  const [first = 0, last = 0] = leastTimes(values)
  t.ok(first < MOST * last + GRAIN && last < MOST * first + GRAIN, `${first} and ${last} µs`)
})
