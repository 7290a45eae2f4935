/** Markup that is safe to send. */
export class Html extends String {}

/** What a template takes. Nothing is rendered for what is absent. */
export type Part = Html | string | number | false | null | undefined | Part[]

/** Template tag. Escapes every value that is not markup itself. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(markup)))

function markup (part: Part): string {
  if (Array.isArray(part)) return part.map(markup).join('')
  const text = String(part || '')
  if (part instanceof Html) return text
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
