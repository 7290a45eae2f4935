/** A start or end tag, or the text between two tags. Names are in lower case; character references are decoded. */
export type Token =
  | { kind: 'start', name: string, attributes: ReadonlyMap<string, string> }
  | { kind: 'end', name: string }
  | { kind: 'text', text: string }

/** Elements whose content is text up to their own end tag, and whether a person can read it. */
const TEXT_ONLY = new Map([
  ['title', true],
  ['textarea', true],
  ['script', false],
  ['style', false],
  ['iframe', false],
  ['noembed', false],
  ['noframes', false],
  ['xmp', false]
])

/**
 * The tags and texts of a page in their order, as the tokenizer of the HTML standard reads them (section 13.2.5).
 * Comments, scripts, styles and templates are left out. No tree is built, so that the time grows with the size of the
 * page only, whatever the page has.
 */
export function * tokensOf (page: string): Generator<Token> {
  let templates = 0
  for (const token of allTokensOf(new Scanner(page))) {
    if (token.kind !== 'text' && token.name === 'template') {
      templates = Math.max(0, templates + (token.kind === 'start' ? 1 : -1))
    } else if (templates === 0) {
      yield token
    }
  }
}

function * allTokensOf (scanner: Scanner): Generator<Token> {
  while (!scanner.isAtEnd) {
    const text = scanner.takeUntil('<')
    if (text !== '') yield textOf(text)
    if (scanner.take(/<(?=[a-z])/iy) !== null) {
      const name = readName(scanner)
      const attributes = readAttributes(scanner)
      // A page that ends within a tag does not have this tag.
      if (attributes === null) return
      yield { kind: 'start', name, attributes }
      const isReadable = TEXT_ONLY.get(name)
      const content = isReadable === undefined ? '' : scanner.takeUntil(new RegExp(`</${name}(?=[\\s/>])`, 'ig'))
      if (isReadable && content !== '') yield textOf(content)
    } else if (scanner.take(/<\/(?=[a-z])/iy) !== null) {
      const name = readName(scanner)
      if (readAttributes(scanner) === null) return
      yield { kind: 'end', name }
    } else if (scanner.take(/<!--/y) !== null) {
      scanner.takeUntil('-->')
      scanner.take(/-->/y)
    } else if (scanner.take(/<[!?/]/y) !== null) {
      scanner.takeUntil('>')
      scanner.take(/>/y)
    } else if (scanner.take(/</y) !== null) {
      yield textOf('<')
    }
  }
}

const textOf = (text: string): Token => ({ kind: 'text', text: decoded(text) })

const readName = (scanner: Scanner): string =>
  String(scanner.take(/[^\s/>]*/y)).toLowerCase()

/** The attributes up to the end of a tag, the first of each name; null where the page ends before. */
function readAttributes (scanner: Scanner): Map<string, string> | null {
  const attributes = new Map<string, string>()
  for (;;) {
    scanner.take(/[\s/]*/y)
    if (scanner.isAtEnd) return null
    if (scanner.take(/>/y) !== null) return attributes
    const name = String(scanner.take(/=?[^\s/>=]*/y)).toLowerCase()
    const value = scanner.take(/\s*=\s*/y) === null ? '' : readValue(scanner)
    if (!attributes.has(name)) attributes.set(name, decoded(value))
  }
}

function readValue (scanner: Scanner): string {
  const quote = scanner.take(/["']/y)
  if (quote === null) return String(scanner.take(/[^\s>]*/y))
  const value = scanner.takeUntil(quote)
  scanner.take(/["']/y)
  return value
}

/** Reads a text from its beginning to its end. */
class Scanner {
  readonly #text: string
  #at = 0

  constructor (text: string) {
    this.#text = text
  }

  get isAtEnd (): boolean {
    return this.#at >= this.#text.length
  }

  /** What the sticky pattern matches here; null where it does not match. */
  take (pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)?.[0] ?? null
    this.#at += match?.length ?? 0
    return match
  }

  /** Everything before the text, or the match of the global pattern, that comes next. Without one, the rest. */
  takeUntil (end: string | RegExp): string {
    const from = this.#at
    const found = typeof end === 'string' ? this.#text.indexOf(end, from) : this.#find(end)
    this.#at = found === -1 ? this.#text.length : found
    return this.#text.slice(from, this.#at)
  }

  #find (pattern: RegExp): number {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.index ?? -1
  }
}

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' '
}
const LARGEST_CODE_POINT = 0x10FFFF

/** Decodes the character references that templates write: `&amp;`, `&#39;`, `&#x2F;`. Other names stay. */
export const decoded = (text: string): string =>
  text.replace(/&(?:#(\d+|x[\da-f]+);?|(amp|lt|gt|quot|apos|nbsp);)/gi, (_all, number?: string, name = '') => {
    if (number === undefined) return String(NAMED[name.toLowerCase()])
    const point = Number(`0${number}`)
    return point > LARGEST_CODE_POINT ? '\ufffd' : String.fromCodePoint(point)
  })

/** Characters of a body that are looked at, and of its words that are shown. */
const BEGINNING = 4096
const MOST_SHOWN = 80

/** The title of a body, or else its first words, at most 80 characters. The beginning is enough, and cheap. */
export function firstWords (body: string): string {
  const start = body.slice(0, BEGINNING)
  const tokens = [...tokensOf(start)]
  const [title, content] = tokens.slice(tokens.findIndex((token) => token.kind === 'start' && token.name === 'title'))
  const isTitled = title?.kind === 'start' && title.name === 'title' && content?.kind === 'text'
  const words = isTitled ? content.text : textsOf(start).join(' ')
  return words.replace(/\s+/g, ' ').trim().slice(0, MOST_SHOWN)
}

/** The texts of a page that a person can read, white space made one space. */
export function textsOf (page: string): string[] {
  return [...tokensOf(page)]
    .flatMap((token) => token.kind === 'text' ? [token.text.replace(/\s+/g, ' ').trim()] : [])
    .filter((text) => text !== '')
}
