import { formEncoded } from './requests.ts'

/** Characters of a text that no word contains by chance. */
const LONG = 8

/**
 * The text without what was typed into login pages: a short one where it is a word, a long one inside of other words,
 * too. One character says nothing.
 */
export function withoutTyped (text: string, typed: ReadonlySet<string>): string {
  return [...typed]
    .flatMap(spellingsOf)
    // One may contain another.
    .sort((one, other) => other.length - one.length)
    .reduce((rest, spelling) => rest.replace(patternOf(spelling), '••••••••'), text)
}

/** What was typed, as it is and as a URL, a form or a page has it. */
function spellingsOf (typed: string): string[] {
  const text = typed.trim()
  return text.length < 2 ? [] : [text, encodeURIComponent(text), formEncoded(text), text.replaceAll('&', '&amp;')]
}

function patternOf (text: string): RegExp {
  const literal = text.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&')
  return new RegExp(text.length < LONG ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal, 'gu')
}
