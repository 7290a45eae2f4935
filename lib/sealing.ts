import { createCipheriv, createDecipheriv, createHmac, hash, randomFillSync } from 'node:crypto'

/**
 * The bytes of a secret. HKDF takes a pseudorandom key as long as its hash at least (RFC 5869 section 2.3), which is 64
 * bytes for SHA-512; and a multiple of three has one spelling only in base64url.
 */
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

/**
 * Derives the values from a secret, bound to all that `info` names: the first block of HKDF-Expand with SHA-512
 * (RFC 5869 section 2.3). The extract step is left out, as section 3.3 allows for a secret that is uniformly random.
 */
export function derive (secret: string, info: string): Derived {
  const block = createHmac('sha512', Buffer.from(secret, 'base64url')).update(`${info}\x01`).digest()
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

/**
 * A sealing key from a secret that yields nothing else, bound to all that `info` names: the one-step derivation of
 * NIST SP 800-56C section 4.1, a fifth of the cost of HKDF.
 */
export function sealingKey (secret: string, info: string): Buffer {
  return hash('sha256', `\0\0\0\x01${secret}${info}`, 'buffer')
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
