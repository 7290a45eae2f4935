/** Control characters, invisible format characters, lone surrogates, line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Escapes every character that controls a terminal or is invisible. */
export const escape = (text: string): string => text.replace(UNSAFE, escapeUnits)

/** The same for JSON text: the result is JSON of the same value, with its line breaks. */
export const escapeJson = (json: string): string =>
  json.replace(UNSAFE, (character) => character === '\n' ? character : escapeUnits(character))

/** The escape of JSON and JavaScript, one for each UTF-16 unit. */
function escapeUnits (character: string): string {
  return character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
