import { OptionInvalid } from './start-errors.ts'

/**
 * Throws an error where an option has a value that it must not have.
 *
 * @param name - the name of the option
 * @param expected - what it must be: completes the sentence "option … must be …"
 * @param given - what it is, by `kindOf`. It is the value itself only where that cannot be a secret, because an
 *   option may have got one by mistake
 *
 * @throws {@link OptionInvalid}
 */
export function assertOption (isValid: boolean, name: string, expected: string, given: string): asserts isValid {
  if (!isValid) throw new OptionInvalid(name, expected, given)
}

/** Says what kind of value it is, in words that cannot contain a secret or personal data. */
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

/** Tells whether a value is text of one or more visible ASCII characters and spaces. */
export function isVisibleAscii (value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
}
