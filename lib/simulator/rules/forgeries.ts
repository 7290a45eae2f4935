import { createHmac } from 'node:crypto'
import type { Wrong } from './nearest.ts'
import { otherCharacter } from './nearest.ts'

/** Keys of examples and manuals. */
const GUESSED_KEYS = [
  '', 'secret', 'your-256-bit-secret', 'your-secret-key', 'changeme', 'password', 'key', 'test'
]

type Json = Record<string, unknown>
type Encoding = 'base64url' | 'base64' | 'hex'

/** A decoded text, and the function that encodes a text in the same way. */
interface Decoded {
  text: string
  encode: (text: string) => string
}

/**
 * Changed copies of a code or token that can be decoded. Each names the same user as the original:
 * a service that verifies no signature accepts it.
 */
export function forgeries (value: string): Wrong[] {
  const segments = value.split('.')
  return [
    ...jwtForgeries(segments),
    ...segments.flatMap((segment, at) => edits(segment).map(({ how, value: edited }): Wrong =>
      ({ how, value: segments.map((other, index) => index === at ? edited : other).join('.') })))
  ]
}

/** RFC 8725 §2.1: the algorithm "none", and a signature that is not verified or can be made. */
function jwtForgeries ([header = '', payload = '', signature, ...more]: string[]): Wrong[] {
  const { alg, ...others } = jsonOf(header) ?? {}
  if (typeof alg !== 'string' || signature === undefined || more.length > 0) return []
  const unsigned = ['none', 'None', 'NONE'].map((none): Wrong => ({
    how: `as a JWT with "alg":"${none}" and no signature`,
    value: `${jsonText({ ...others, alg: none })}.${payload}.`
  }))
  const signed = GUESSED_KEYS.map((key): Wrong =>
    ({
      how: `as a JWT signed with the key ${JSON.stringify(key)}`,
      value: signedWith(key, others, payload)
    }))
  return [{
    how: 'as a JWT without its signature',
    value: `${header}.${payload}.`
  }, ...unsigned, ...signed]
}

function signedWith (key: string, header: Json, payload: string): string {
  const content = `${jsonText({ ...header, alg: 'HS256' })}.${payload}`
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`
}

/** A segment whose decoded text is changed. */
function edits (segment: string): Wrong[] {
  const decoded = decode(segment)
  if (decoded === null) return []
  const { text, encode } = decoded
  const json = parsed(text)
  if (json !== null) {
    return [{
      how: 'with one more member in its JSON',
      value: encode(JSON.stringify({ ...json, edited: true }))
    }]
  }
  const cut = text.slice(0, -1)
  return [{
    how: 'with another last character in its decoded text',
    value: encode(cut + otherDigit(text.slice(-1)))
  }]
}

/** A digit stays a digit: a time or a number stays valid. */
const otherDigit = (character: string): string =>
  /\d/.test(character) ? String((Number(character) + 1) % 10) : otherCharacter(character)

/** Decodes a text, if the result is text again. */
export function decode (value: string): Decoded | null {
  for (const encoding of ['hex', 'base64url', 'base64'] as const) {
    const text = Buffer.from(value, encoding).toString()
    const encode = (other: string): string => encoded(other, encoding, value)
    if (/^[\x20-\x7e]{4,}$/.test(text) && encode(text) === value) return { text, encode }
  }
  return null
}

function encoded (text: string, encoding: Encoding, like: string): string {
  const value = Buffer.from(text).toString(encoding)
  if (encoding === 'hex') return /[A-F]/.test(like) ? value.toUpperCase() : value
  return value
}

const jsonOf = (segment: string): Json | null => parsed(decode(segment)?.text ?? '')

const jsonText = (json: Json): string => Buffer.from(JSON.stringify(json)).toString('base64url')

function parsed (text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value as Json : null
  } catch {
    return null
  }
}
