import { NAME_LENGTH } from './keys.ts'

/** Most characters of a stored value: the longest record, sealed for five secrets, has fewer. */
const LONGEST = 256 * 1024

/**
 * What the store keeps: a text, and one fingerprint for each secret of the portal that stored it. The sealing key does
 * not prove who sealed the text: it is part of the token.
 */
export class StoredValue {
  readonly text: string
  /** Number of fingerprints. */
  readonly count: number
  readonly #fingerprints: string

  constructor (count: number, fingerprints: string, text: string) {
    this.count = count
    this.#fingerprints = fingerprints
    this.text = text
  }

  /** Reverses `toString`. Returns null for what cannot be a value of ours. */
  static parse (value: string | null): StoredValue | null {
    if (value === null || value.length > LONGEST) return null
    const [, count, rest] = /^([1-9]\d{0,3})_(.+)$/s.exec(value) ?? []
    if (rest === undefined) return null
    const length = Number(count) * NAME_LENGTH
    return new StoredValue(Number(count), rest.slice(0, length), rest.slice(length))
  }

  /** Whether it was stored with any of these fingerprints. */
  hasAny (fingerprints: string[]): boolean {
    return fingerprints.some((fingerprint) => this.#fingerprints.includes(fingerprint))
  }

  toString (): string {
    return `${this.count}_${this.#fingerprints}${this.text}`
  }
}
