import { randomBytes } from 'node:crypto'

/** A text in the form of a code. */
export const randomCode = (): string => randomBytes(33).toString('base64url')
