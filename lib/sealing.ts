import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from 'node:crypto'

/**
 * The bytes of a code, and of each half of a token. As many as SHA-384 yields, so that HKDF may take them as its
 * pseudorandom key (RFC 5869 section 2.3), and a multiple of three, so that base64url has one spelling for them.
 */
const SECRET_BYTES = 48
const SECRET = /^[A-Za-z0-9_-]{64}$/
const STORAGE_KEY_BYTES = 16
const TAG_BYTES = 16

// Every key seals one value only, so the nonce need not differ (NIST SP 800-38D section 8.2).
const NONCE = Buffer.alloc(12)

// Drawing random bytes by the pool costs a tenth of drawing them one secret at a time.
const pool = Buffer.alloc(SECRET_BYTES * 128)
let drawn = pool.length

/** 384 random bits in base64url: 64 characters. */
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

/**
 * One block of HKDF-Expand with SHA-384 (RFC 5869 section 2.3). The extract step is left out, as section 3.3 allows
 * for a secret that is uniformly random already.
 */
export function expand (secret: string, info: string): Buffer {
  return createHmac('sha384', Buffer.from(secret, 'base64url')).update(info).update('\x01').digest()
}

/** Two independent outputs of one derivation: where a value is stored, and what seals it. */
export interface DerivedKeys {
  storageKey: string
  sealingKey: Buffer
}

/** Derives both keys from a secret, bound to all that `info` names. */
export function deriveKeys (secret: string, info: string): DerivedKeys {
  const block = expand(secret, info)
  return {
    storageKey: block.toString('base64url', 0, STORAGE_KEY_BYTES),
    sealingKey: block.subarray(STORAGE_KEY_BYTES)
  }
}

/** Encrypts and authenticates the text with AES-256-GCM. A key must seal one text only. */
export function seal (sealingKey: Buffer, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', sealingKey, NONCE)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64')
}

/** The sealed text, or null when it was not sealed with this key or has been changed. */
export function open (sealingKey: Buffer, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', sealingKey, NONCE)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8')
  try {
    return text + decipher.final('utf8')
  } catch {
    return null
  }
}
