import { randomFillSync } from 'node:crypto'

// 264 bits. A multiple of 3 bytes has one base64url encoding.
const BYTES = 33

// Filling a pool costs a tenth of separate calls for each secret.
const pool = Buffer.alloc(8192)
let drawn = pool.length

/** 264 random bits in base64url: 44 characters. */
export function randomSecret (): string {
  if (drawn + BYTES > pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  const secret = pool.toString('base64url', drawn, drawn + BYTES)
  // The secret does not stay in this memory.
  pool.fill(0, drawn, drawn += BYTES)
  return secret
}
