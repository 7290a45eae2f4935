import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'

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

/** Seals the text with each of the keys: how many, then the sealed texts, which have one length. */
export function sealForEach (sealingKeys: string[], text: string): string {
  return `${sealingKeys.length}_${sealingKeys.map((key) => seal(key, text)).join('')}`
}

/** Opens what was sealed with any of the keys. Returns null when it was sealed with none of them. */
export function openWithAny (sealingKeys: string[], value: string): Opened | null {
  for (const sealed of sealedTexts(value)) {
    for (const sealingKey of sealingKeys) {
      const text = open(sealingKey, sealed)
      if (text !== null) return { text, sealingKey, sealed }
    }
  }
  return null
}

function sealedTexts (value: string): string[] {
  const [, count, texts = ''] = /^(\d+)_(.+)$/s.exec(value) ?? []
  const length = texts.length / Number(count)
  if (!Number.isInteger(length)) return []
  return Array.from({ length: Number(count) }, (_none, index) => texts.slice(index * length, (index + 1) * length))
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
