import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject, randomFillSync } from 'node:crypto'

/** Bytes of a secret: at least as many as the hash yields. A multiple of three has only one spelling in base64url. */
const SECRET_BYTES = 66
const SECRET = /^[A-Za-z0-9_-]{88}$/

// A storage key and a locator: 120 bits each in base64url.
const NAME_LENGTH = 20
// A key of AES-256: 32 bytes in base64url.
const KEY_LENGTH = 43
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
  // No secret stays in this memory.
  pool.fill(0, drawn, drawn += SECRET_BYTES)
  return secret
}

/** Whether the value has the form of `randomSecret()`. */
export function isSecret (value: string): boolean {
  return SECRET.test(value)
}

/** The three values that a secret yields. None of them tells anything of the others or of the secret. */
export interface Derived {
  /** Key under which the store keeps the value. */
  storageKey: string
  /** Key that encrypts the value. */
  sealingKey: Buffer
  /** Determines where the token of a code is stored. */
  locator: string
}

/** Derives the three values from a secret, bound to all that `info` names. */
export function derive (secret: string, info: string): Derived {
  // As text: a Buffer made by node:crypto costs as much as the hash.
  const block = hash('sha512', keyDerivation(secret, info), 'base64url')
  return {
    storageKey: block.slice(0, NAME_LENGTH),
    locator: block.slice(NAME_LENGTH, 2 * NAME_LENGTH),
    sealingKey: Buffer.from(block.slice(2 * NAME_LENGTH, 2 * NAME_LENGTH + KEY_LENGTH), 'base64url')
  }
}

/** The storage key of a text that is no secret of ours: as long as a derived one, and one-way as well. */
export function storageKey (text: string): string {
  return hash('sha512', text, 'base64url').slice(0, NAME_LENGTH)
}

/** The sealing key of a secret that yields no other value, bound to all that `info` names. */
export function sealingKey (secret: string, info: string): Buffer {
  return hash('sha256', keyDerivation(secret, info), 'buffer')
}

/**
 * The input of the hash in the one-step key derivation of NIST SP 800-56C section 4.1, which suits a uniformly random
 * secret; HKDF would cost more than twice as much. The secret has a fixed length, so no two inputs read the same.
 */
function keyDerivation (secret: string, info: string): string {
  return `\0\0\0\x01${secret}${info}`
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const NODE = major * 100 + minor

/**
 * The key as the cipher takes it at the least cost. On Node 24.18 to 26.8 a key of bytes costs four times as much as a
 * KeyObject (30 µs instead of 10 for a record); on other releases a KeyObject costs half as much again as the bytes.
 */
export function cipherKey (sealingKey: Buffer, node = NODE): Buffer | KeyObject {
  return node >= 2418 && node <= 2608 ? createSecretKey(sealingKey) : sealingKey
}

/** Encrypts and authenticates the text with AES-256-GCM. A key must seal one text only. */
export function seal (sealingKey: Buffer, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', cipherKey(sealingKey), NONCE)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts a sealed text. Returns null when it was sealed with another key or changed. */
export function open (sealingKey: Buffer, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', cipherKey(sealingKey), NONCE)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    return null
  }
  return text.toString()
}
