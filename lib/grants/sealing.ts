import { createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto'

/** The bytes of a secret: no fewer than the hash yields, and a multiple of three has one spelling only in base64url. */
const SECRET_BYTES = 66
const SECRET = /^[A-Za-z0-9_-]{88}$/

// 120 bits each, a multiple of three bytes as well.
const ADDRESS_BYTES = 15
const SEALING_KEY_BYTES = 32
const TAG_BYTES = 16

// Every key seals one value only, so the nonce need not differ (NIST SP 800-38D section 8.2).
const NONCE = Buffer.alloc(12)

// Drawing random bytes by the pool costs a tenth of drawing them one secret at a time.
const pool = Buffer.alloc(SECRET_BYTES * 128)
let drawn = pool.length

/** 528 random bits in base64url: 88 characters. */
export function randomSecret (): string {
  if (drawn === pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  const secret = pool.toString('base64url', drawn, drawn + SECRET_BYTES)
  // What was handed out does not stay in memory here.
  pool.fill(0, drawn, drawn += SECRET_BYTES)
  return secret
}

/** Whether the value has the form of `randomSecret()`. */
export function isSecret (value: string): boolean {
  return SECRET.test(value)
}

/** What one secret yields: three values, none of which tells anything of the others or of the secret. */
export interface Derived {
  /** Where a value is stored. */
  storageKey: string
  /** What seals it. */
  sealingKey: Buffer
  /** Names what comes after: the token that follows a code. */
  successor: string
}

/** Derives the values from a secret, bound to all that `info` names. */
export function derive (secret: string, info: string): Derived {
  const block = hash('sha512', keyDerivation(secret, info), 'buffer')
  return {
    storageKey: block.toString('base64url', 0, ADDRESS_BYTES),
    sealingKey: block.subarray(ADDRESS_BYTES, ADDRESS_BYTES + SEALING_KEY_BYTES),
    successor: block.toString('base64url', ADDRESS_BYTES + SEALING_KEY_BYTES, 2 * ADDRESS_BYTES + SEALING_KEY_BYTES)
  }
}

/** A one-way image of the text, as long as a storage key: what is cut off of the hash in base64url is cut at a byte. */
export function address (text: string): string {
  return hash('sha512', text, 'base64url').slice(0, ADDRESS_BYTES / 3 * 4)
}

/** A sealing key from a secret that yields nothing else, bound to all that `info` names. */
export function sealingKey (secret: string, info: string): Buffer {
  return hash('sha256', keyDerivation(secret, info), 'buffer')
}

/**
 * What is hashed in the one-step key derivation of NIST SP 800-56C section 4.1, which suits a secret that is uniformly
 * random; HKDF would cost more than twice as much. The secret has a fixed length, so nothing else reads the same.
 */
function keyDerivation (secret: string, info: string): string {
  return `\0\0\0\x01${secret}${info}`
}

/** Encrypts and authenticates the text with AES-256-GCM. A key must seal one text only. */
export function seal (sealingKey: Buffer, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', sealingKey, NONCE)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

/** The sealed text, or null when it was not sealed with this key or has been changed. */
export function open (sealingKey: Buffer, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', sealingKey, NONCE)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    return null
  }
  return text.toString()
}
