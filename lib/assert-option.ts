/**
 * Throws a TypeError that names the option, what it must be, and what was given. `given` is written by `kindOf` or
 * `valueOf`, never the value itself: an option may have got a secret by mistake.
 */
export function assertOption (isValid: boolean, name: string, expected: string, given: string): asserts isValid {
  if (!isValid) throw new TypeError(`partner-sso: option "${name}" must be ${expected}; got ${given}`)
}

/** The kind of a value, without the value: for options that are objects or functions, and for secrets. */
export function kindOf (value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A string or number as it was given, anything else by its kind. A text with an `@` may be a URL with a password. */
export function valueOf (value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && !value.includes('@') ? JSON.stringify(value) : kindOf(value)
}

/** Why a text is not visible ASCII (RFC 6749 appendix A.1 and A.2); undefined when it is. The text is not repeated. */
export function flawOf (value: unknown): string | undefined {
  if (typeof value !== 'string') return kindOf(value)
  if (value === '') return 'an empty string'
  if (/[\r\n]/.test(value)) return 'a string that has a line break'
  return isVisibleAscii(value) ? undefined : 'a string that has a character other than visible ASCII'
}

export function isVisibleAscii (value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
}

/** The URL of a text; null when it is none. A URL object is none: it is not sent, compared or shown as it is. */
export function parseUrl (value: unknown): URL | null {
  if (typeof value !== 'string') return null
  try {
    return new URL(value)
  } catch {
    return null
  }
}
