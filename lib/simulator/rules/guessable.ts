import { createHmac, hash } from 'node:crypto'
import { decode } from './forgeries.ts'
import type { Severity } from './errors.ts'

/** RFC 6749 §10.10 demands 128 bits. A UUID of version 4 has 122, and is accepted. */
const FEWEST_BITS = 120
/** With fewer random bits, all values can be tried. */
const TRIED_BITS = 64

/** Why somebody who has other codes or tokens can guess one. */
export interface Weakness {
  how: string
  severity: Severity
}

/**
 * Compares codes or tokens that were issued one after the other. Known text in them does not count
 * as random.
 *
 * @param known - the known texts for each value
 * @returns null where they seem to be random
 */
export function weaknessOf (values: string[], known: string[][]): Weakness | null {
  if (new Set(values).size < values.length) return { how: 'the same one twice', severity: 'must' }
  const unknown = values.map((value, at) =>
    without(decode(value)?.text ?? value, known[at] as string[]))
  const bits = Math.floor(randomBitsOf(unknown))
  if (bits >= FEWEST_BITS) return null
  const how = `${values.length} of them differ in at most ${bits} random bits`
  return { how, severity: bits < TRIED_BITS ? 'must' : 'should' }
}

/** Shorter known text is ignored: it occurs in random text by chance. */
const SHORTEST_KNOWN = 6

const without = (text: string, known: string[]): string =>
  known.filter(({ length }) => length >= SHORTEST_KNOWN)
    .reduce((rest, one) => rest.replaceAll(one, ''), text)

/**
 * An upper bound: every place whose character varies counts as uniformly random among all
 * characters that were seen.
 */
function randomBitsOf (values: string[]): number {
  const length = Math.min(...values.map((value) => value.length))
  const places = Array.from({ length }, (_none, at) =>
    new Set(values.map((value) => value.charAt(at))))
  const varying = places.filter(({ size }) => size > 1)
  const alphabet = new Set(varying.flatMap((place) => [...place]))
  return varying.length * Math.log2(Math.max(alphabet.size, 1))
}

const HASHES: Array<[name: string, bytes: number]> =
  [['md5', 16], ['sha1', 20], ['sha256', 32], ['sha512', 64]]
const SEPARATORS = ['', ':', '-', '_', '.', '|']
/** Hashes take time: this many numbers and this many milliseconds are tried. */
const MOST_NUMBERS = 3000
const MOST_TIMES = 1000

/**
 * What a value is derived from, if that is known text, or a hash of known text, a number or a time.
 *
 * @param from - the earliest time of issue, in milliseconds since 1970
 */
export function originOf (value: string, known: string[], from: number): string | null {
  const spellings = [value, Array.from(value).reverse().join(''), decode(value)?.text ?? '']
  if (known.some((one) => spellings.includes(one))) return 'it is known text'
  const digest = digestOf(value)
  if (digest === null) return null
  const hashes = HASHES.filter(([, bytes]) => bytes >= digest.length).map(([name]) => name)
  const numbers = Array.from({ length: MOST_NUMBERS }, (_none, number) => String(number))
  const now = Date.now()
  const milliseconds = Array.from({ length: Math.min(now - from + 1, MOST_TIMES) }, (_none, past) =>
    String(now - past))
  const times = [...milliseconds, ...new Set(milliseconds.map((time) => time.slice(0, -3)))]
  const sources = {
    'known text': known,
    'a number': numbers,
    'the time': times,
    'known texts': known.flatMap((one) => joined(one, known)),
    'known text and the time': known.flatMap((one) => joined(one, times))
  }
  const isMac = known.some((key) => known.some((text) => hashes.some((name) =>
    digestStarts(createHmac(name, key).update(text).digest(), digest))))
  if (isMac) return 'it is the HMAC of known text under a known key'
  const isHash = (text: string) =>
    hashes.some((name) => digestStarts(hash(name, text, 'buffer'), digest))
  const source = Object.entries(sources).find(([, texts]) => texts.some(isHash))
  return source === undefined ? null : `it is the hash of ${source[0]}`
}

const joined = (one: string, others: string[]): string[] => others.flatMap((other) =>
  SEPARATORS.flatMap((separator) => [one + separator + other, other + separator + one]))

/** The bytes of a value that may be a hash or the beginning of one. */
function digestOf (value: string): Buffer | null {
  if (/^(?:[0-9a-f]{2}){8,64}$/i.test(value)) return Buffer.from(value, 'hex')
  return /^[\w+/-]{16,88}=*$/.test(value) ? Buffer.from(value, 'base64') : null
}

/** The value may be the beginning of a hash. */
const digestStarts = (whole: Buffer, start: Buffer): boolean =>
  whole.subarray(0, start.length).equals(start)
