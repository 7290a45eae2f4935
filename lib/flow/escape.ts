/** Control characters, invisible format characters, lone surrogates, line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Escapes every character that controls a terminal or is invisible, as JSON and JavaScript do: by
 * UTF-16 units.
 */
export const escape = (text: string): string =>
  text.replace(UNSAFE, (character) => character.replace(/[^]/g, escapeUnit))

function escapeUnit (unit: string): string {
  const hex = unit.charCodeAt(0).toString(16)
  return `\\u${hex.padStart(4, '0')}`
}

/** The same for each line. JSON text stays JSON of the same value. */
export const escapeLines = (text: string): string =>
  text.replace(/[^\n]+/g, escape)
