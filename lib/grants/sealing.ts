import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject, randomFillSync } from 'node:crypto'

/** Characters of a storage key, a locator and a fingerprint: 120 bits each in base64url. */
export const NAME_LENGTH = 20
/** Characters of a sealing key: the 32 bytes of AES-256 in base64url. */
export const SEALING_KEY_LENGTH = 43
const TAG_BYTES = 16

// Every key seals one value only, so the nonce need not differ (NIST SP 800-38D section 8.2).
const NONCE = Buffer.alloc(12)

// Drawing random bytes by the pool costs a tenth of drawing them one secret at a time.
const pool = Buffer.alloc(8192)
let drawn = pool.length

/** Random bytes in base64url. */
export function randomSecret (bytes: number): string {
  if (drawn + bytes > pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  const secret = pool.toString('base64url', drawn, drawn + bytes)
  // No secret stays in this memory.
  pool.fill(0, drawn, drawn += bytes)
  return secret
}

/** The three values that a secret yields. None of them tells anything of the others or of the secret. */
export interface Derived {
  /** Key under which the store keeps the value. */
  storageKey: string
  /** Key that encrypts the value. */
  sealingKey: string
  /** Determines where the token of a code is stored. */
  locator: string
}

/**
 * Derives the three values from a secret, bound to all that `info` names. The hash has the input of the one-step key
 * derivation of NIST SP 800-56C section 4.1, which suits a uniformly random secret; HKDF would cost more than twice as
 * much. Secrets are of one length, so no two inputs read the same.
 */
export function derive (secret: string, info: string): Derived {
  // As text: a Buffer made by node:crypto costs as much as the hash.
  const block = hash('sha512', `\0\0\0\x01${secret}${info}`, 'base64url')
  return {
    storageKey: block.slice(0, NAME_LENGTH),
    locator: block.slice(NAME_LENGTH, 2 * NAME_LENGTH),
    sealingKey: block.slice(2 * NAME_LENGTH, 2 * NAME_LENGTH + SEALING_KEY_LENGTH)
  }
}

/** As long as a storage key, and as one-way. */
export function fingerprint (text: string): string {
  return hash('sha512', text, 'base64url').slice(0, NAME_LENGTH)
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const NODE = major * 100 + minor

/**
 * The key as the cipher takes it at the least cost. On Node 24.18 to 26.8 a key of bytes costs four times as much as a
 * KeyObject (30 µs instead of 10 for a record); on other releases a KeyObject costs half as much again as the bytes.
 */
export function cipherKey (sealingKey: string, node = NODE): Buffer | KeyObject {
  const isObjectCheaper = node >= 2418 && node <= 2608
  return isObjectCheaper ? createSecretKey(sealingKey, 'base64url') : Buffer.from(sealingKey, 'base64url')
}

/** Encrypts and authenticates the text with AES-256-GCM. A key must seal one text only. */
export function seal (sealingKey: string, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', cipherKey(sealingKey), NONCE)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts a sealed text. Returns null when it was sealed with another key or changed. */
export function open (sealingKey: string, sealed: string): string | null {
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
