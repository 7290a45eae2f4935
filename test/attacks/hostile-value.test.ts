// Someone who writes the store measures how long a value of his takes to be refused. If the time depended on how much
// of it agrees with something that is derived from the secret, he would learn that piece by piece. (The version before
// compared fingerprints by String.includes: two values of one length took 35 and 705 µs, and a sign-in was forged in 39
// seconds.) Two hostile values of one length are compared here, one that agrees with nothing, and one that agrees with
// all but the end of what is secret: proof, sealing key, tag. Processor time, as a ratio: an absolute time would judge
// the machine.
import t from 'tap'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { randomSecret } from '../../lib/grants/random-secret.ts'
import { open, seal } from '../../lib/grants/sealing.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../helpers/host.ts'

const LENGTH = 200_000
/** How much longer one of two equal values may seem to take. A comparison that ends early: twenty times. */
const MOST = 2
/** Microseconds that processor time is exact to. */
const GRAIN = 50
const ROUNDS = 40

const keys = new GrantKeys('')
const portal = new RegisteredPortal(PORTAL)
const [credential = ''] = portal.credentials
const locator = keys.locator(randomSecret(), portal)
const proof = keys.proof(locator, credential)
const sealingKey = keys.sealingKey(proof, credential)
const sealed = seal([sealingKey], 'text'.repeat(100)).slice('1_'.length)

/** A text of `LENGTH` characters, full of one that is right up to its last character, or wrong from the first. */
const filled = (part: string, isNearlyRight: boolean): string => {
  const wrong = (character: string) => character === 'A' ? 'B' : 'A'
  const near = part.slice(0, -1) + wrong(part.slice(-1))
  const far = [...part].map(wrong).join('')
  return (isNearlyRight ? near : far).repeat(LENGTH / part.length + 1).slice(0, LENGTH)
}

/** The least processor time that refusing the value has taken, in microseconds. */
function leastTimes (values: string[]): number[] {
  const least = values.map(() => Infinity)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, value] of values.entries()) {
      const before = process.cpuUsage()
      for (let count = 0; count < 5; count++) if (open(sealingKey, value) !== null) throw new Error('It was opened')
      const { user, system } = process.cpuUsage(before)
      least[index] = Math.min(least[index] as number, user + system)
    }
  }
  return least
}

for (const [name, part] of Object.entries({ proof, 'sealing key': sealingKey, 'sealed copy': sealed, locator })) {
  for (const count of ['1_', '9_', '99_']) {
    t.test(`${count}: a value full of the ${name}, but for the last character`, async (t) => {
      const [near = 0, far = 0] = leastTimes([count + filled(part, true), count + filled(part, false)])
      t.ok(near < MOST * far + GRAIN && far < MOST * near + GRAIN, `${near} and ${far} µs`)
    })
  }
}

t.test('a tag that is wrong in its first byte or in its last', async (t) => {
  const bytes = Buffer.from(seal([sealingKey], 'x'.repeat(100_000)).slice('1_'.length), 'base64url')
  const values = [-16, -1].map((place) => {
    const changed = Buffer.from(bytes)
    changed[changed.length + place] = (changed.at(place) as number) ^ 1
    return `1_${changed.toString('base64url')}`
  })
  const [first = 0, last = 0] = leastTimes(values)
  t.ok(first < MOST * last + GRAIN && last < MOST * first + GRAIN, `${first} and ${last} µs`)
})
