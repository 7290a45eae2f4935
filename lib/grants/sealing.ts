import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const TAG_BYTES = 16

/** Most characters of a copy: those of the longest record, with its external_id a second time. */
const LONGEST_COPY = 44_000

// Every key seals one text only, so the nonce need not differ (NIST SP 800-38D section 8.2).
const NONCE = Buffer.alloc(12)

/**
 * Encrypts and authenticates the text with AES-256-GCM, once with each key: `<number of copies>_<copies>`. A key must
 * seal one text only.
 */
export function seal (keys: string[], text: string): string {
  return [keys.length, '_', ...keys.map((key) => sealOne(key, text))].join('')
}

/** Decrypts a sealed value with any of the keys. Returns null when no copy was sealed with one of them. */
export function openWithAny (keys: string[], value: string): string | null {
  for (const key of keys) {
    const text = open(key, value)
    if (text !== null) return text
  }
  return null
}

/** Decrypts a sealed value. Returns null when no copy was sealed with the key, or the copy was changed. */
export function open (key: string, value: string): string | null {
  const [head, count] = /^([1-9]\d?)_/.exec(value) ?? []
  if (head === undefined) return null
  const length = Math.ceil((value.length - head.length) / Number(count))
  if (length > LONGEST_COPY) return null
  for (let start = head.length; start < value.length; start += length) {
    const text = openOne(key, value.slice(start, start + length))
    if (text !== null) return text
  }
  return null
}

function sealOne (key: string, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', keyObject(key), NONCE)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

function openOne (key: string, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', keyObject(key), NONCE)
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
function keyObject (key: string): KeyObject {
  return createSecretKey(key, 'base64url')
}
