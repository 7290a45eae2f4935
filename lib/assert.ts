import { OptionInvalid } from './start-errors.ts'

/**
 * Throws an error that names the option, what it must be, and what was given. `given` is written by `kindOf`, and is
 * the value itself only where that cannot be a secret: an option may have got one by mistake.
 *
 * @throws {@link OptionInvalid}
 */
export function assertOption (isValid: boolean, name: string, expected: string, given: string): asserts isValid {
  if (!isValid) throw new OptionInvalid(name, expected, given)
}

/** The kind of a value, in words that cannot hold a secret or personal data. */
export function kindOf (value: unknown): string {
  if (typeof value === 'string') return kindOfText(value)
  const isFinite = typeof value !== 'number' || Number.isFinite(value)
  if (value === null || value === undefined || !isFinite) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

function kindOfText (text: string): string {
  if (text === '') return 'an empty string'
  return `a string of ${text.length} characters${/[\r\n]/.test(text) ? ' that has a line break' : ''}`
}

export function isVisibleAscii (value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
}
