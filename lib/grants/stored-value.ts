import { NAME_LENGTH } from './keys.ts'

/** Most characters of a stored value: many times the longest record. */
const LONGEST = 1024 * 1024
/** Seconds by which the clocks of the servers of one app may differ. */
const CLOCK_TOLERANCE = 300

/** The fingerprints of a text, one for each secret of the portal. */
export type Prove = (text: string) => string[]

/**
 * What the store keeps: a text, when it was stored, and fingerprints of both. The sealing key does not prove who sealed
 * a text, since a token contains it. The store counts the lifetime; the time here makes worthless what somebody writes
 * back to the store later.
 */
export class StoredValue {
  readonly text: string
  /** Number of secrets of the portal that stored it. */
  readonly count: number
  readonly #storedAt: number
  readonly #dated: string
  readonly #fingerprints: string

  private constructor (value: string) {
    const [count = ''] = /^[1-9]\d{0,3}(?=_)/.exec(value) ?? []
    const start = count.length + 1
    this.count = Number(count)
    this.#fingerprints = value.slice(start, start + this.count * NAME_LENGTH)
    this.#dated = value.slice(start + this.count * NAME_LENGTH)
    const end = this.#dated.indexOf('_')
    this.#storedAt = Number(this.#dated.slice(0, end))
    this.text = this.#dated.slice(end + 1)
  }

  static encode (text: string, prove: Prove): string {
    const dated = `${Date.now()}_${text}`
    const fingerprints = prove(dated)
    return `${fingerprints.length}_${fingerprints.join('')}${dated}`
  }

  /** Reverses `encode`. Null for any other text, and for what was stored for lifetime seconds too long ago. */
  static decode (value: string | null, lifetime: number): StoredValue | null {
    if (value === null || value.length > LONGEST) return null
    const stored = new StoredValue(value)
    // False for what is no number.
    const isValid = stored.count >= 1 && Date.now() <= stored.#storedAt + (lifetime + CLOCK_TOLERANCE) * 1000
    return isValid ? stored : null
  }

  /** Whether it was stored by a process that has one of the secrets. */
  isProvenBy (prove: Prove): boolean {
    return prove(this.#dated).some((fingerprint) => this.#fingerprints.includes(fingerprint))
  }
}
