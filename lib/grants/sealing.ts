import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const TAG_BYTES = 16

/**
 * AES-GCM needs a nonce that differs between two texts under one key (NIST SP 800-38D section 8). Each sealing key is
 * derived for one sign-in and one client secret, and seals the one text of that sign-in. So there is no second text,
 * and the nonce is zero. Sealing the same text once more gives the same copy, which tells nothing new.
 */
const NONCE = Buffer.alloc(12)

/**
 * Encrypts and authenticates a text with AES-256-GCM.
 *
 * @param keys - AES-256 keys that seal no other text
 * @returns one copy for each key, in base64url, joined by dots
 */
export function seal (keys: readonly KeyObject[], text: string): string {
  return keys.map((key) => sealCopy(key, text)).join('.')
}

/**
 * Decrypts a sealed text.
 *
 * @param keys - any of which may have sealed a copy
 * @returns the text, or null when no copy was sealed with one of the keys
 */
export function open (keys: readonly KeyObject[], sealed: string): string | null {
  for (const copy of sealed.split('.')) {
    const bytes = Buffer.from(copy, 'base64url')
    for (const key of keys) {
      const text = openCopy(key, bytes)
      if (text !== null) return text
    }
  }
  return null
}

function sealCopy (key: KeyObject, text: string): string {
  const cipher = createCipheriv('aes-256-gcm', key, NONCE)
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

function openCopy (key: KeyObject, copy: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, NONCE, { authTagLength: TAG_BYTES })
  try {
    decipher.setAuthTag(copy.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(copy.subarray(0, -TAG_BYTES)), decipher.final()]).toString()
  } catch {
    // The copy was sealed with another key, was changed, or is shorter than a tag.
    return null
  }
}
