/** Controls, invisible format characters (text direction among them), lone surrogates, line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * The text with every character escaped that a terminal obeys and a reader does not see: what a service answers must
 * not set a title, a colour or the clipboard.
 */
export const printable = (text: string): string => text.replace(UNSAFE, escape)

/** The same for JSON text: the result is still JSON of the same value. Line breaks between members stay. */
export const printableJson = (json: string): string =>
  json.replace(UNSAFE, (character) => character === '\n' ? character : escape(character))

/** As JSON and JavaScript write it, one escape for each UTF-16 unit. */
function escape (character: string): string {
  return character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}
