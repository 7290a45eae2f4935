import type { Fields } from './user.ts'

/** A form of a page, with the values that it sends unless somebody changes them. */
export interface Form {
  /** Empty: the page's own address, with its query. */
  action: string
  method: 'GET' | 'POST'
  fields: Fields
}

const UNSENT = new Set(['submit', 'button', 'image', 'reset', 'file'])

/**
 * The forms of a page. Splits at tags instead of matching from tag to tag: the time grows with the
 * size of the page.
 */
export function formsOf (page: string): Form[] {
  return page
    .split(/<form\b/i)
    .slice(1)
    .map((text) => {
      const [form = '', ...rest] = (text.split(/<\/form\b/i)[0] as string).split('>')
      const tags = [...rest.join('>').matchAll(/<(input|button|select|textarea)\b([^<>]*)/gi)]
      const method = attribute(form, 'method')?.toUpperCase() === 'POST' ? 'POST' : 'GET'
      return { action: attribute(form, 'action') ?? '', method, fields: fieldsOf(tags) }
    })
}

/** The first form that has all of the fields, or else the first one. */
export const formWith = (page: string, fields: Fields): Form | undefined => {
  const forms = formsOf(page)
  const names = Object.keys(fields)
  return forms.find((form) => names.every((name) => name in form.fields)) ?? forms[0]
}

function fieldsOf (tags: RegExpExecArray[]): Fields {
  const fields: Fields = {}
  let isSubmitted = false
  for (const [, tag = '', attributes = ''] of tags) {
    const name = attribute(attributes, 'name')
    const type =
      attribute(attributes, 'type')?.toLowerCase() ?? (tag.toLowerCase() === 'button' ? 'submit' : 'text')
    if (name === undefined || name === '') continue
    const isChecked = !/^(?:checkbox|radio)$/.test(type) || /\schecked\b/i.test(attributes)
    // A person clicks the first button.
    const isClicked = type === 'submit' && !isSubmitted
    isSubmitted ||= type === 'submit'
    if (isChecked && (isClicked || !UNSENT.has(type))) fields[name] ??= attribute(attributes, 'value') ?? ''
  }
  return fields
}

function attribute (tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(` ${tag}`)
  return found === null ? undefined : decoded(found.slice(1).join(''))
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (all, decimal, hexadecimal, name: string) => {
    const point = decimal ?? (hexadecimal === undefined ? undefined : parseInt(hexadecimal, 16))
    return point === undefined
      ? (NAMED[name.toLowerCase()] ?? all)
      : String.fromCodePoint(Math.min(Number(point), 0x10ffff))
  })
