/** Markup that is safe to send. */
export class Html {
  readonly text: string

  constructor (text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | readonly Html[]

const ENTITIES: Record<string, string> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;'
}

/** Template tag. Escapes every value that is not markup itself; null renders nothing. */
export function html (strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.map((string, at) => string +
    (at < parts.length ? markup(parts[at] as Part) : '')).join(''))
}

function markup (part: Part): string {
  if (part === null) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}
