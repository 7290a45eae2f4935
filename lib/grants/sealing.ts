import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const TAG_BYTES = 16

// Every key seals one text only, so the nonce need not differ (NIST SP 800-38D section 8.2).
const NONCE = Buffer.alloc(12)

/** A text that was opened, with the key that opened it. */
export interface Opened {
  text: string
  sealingKey: string
  /** The text as it was sealed with this key. */
  sealed: string
}

/** Seals the text with each of the keys: the sealed texts have one length. */
export function sealForEach (sealingKeys: string[], text: string): string {
  return sealingKeys.map((key) => seal(key, text)).join('')
}

/** Opens one of the sealed texts with any of the keys. Returns null when none was sealed with one of them. */
export function openWithAny (sealingKeys: string[], texts: string, count: number): Opened | null {
  const length = texts.length / count
  for (let start = 0; start < texts.length; start += length) {
    const sealed = texts.slice(start, start + length)
    for (const sealingKey of sealingKeys) {
      const text = open(sealingKey, sealed)
      if (text !== null) return { text, sealingKey, sealed }
    }
  }
  return null
}

/** Encrypts and authenticates the text with AES-256-GCM. A key must seal one text only. */
export function seal (sealingKey: string, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', keyOf(sealingKey), NONCE)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts a sealed text. Returns null when it was sealed with another key or changed. */
export function open (sealingKey: string, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', keyOf(sealingKey), NONCE)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    return null
  }
  return text.toString()
}

// On Node 24 a cipher takes four times as long with a key of bytes.
function keyOf (sealingKey: string): KeyObject {
  return createSecretKey(sealingKey, 'base64url')
}
