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
  return page.split(/<form\b/i).slice(1).map((text) => {
    const [inside = ''] = text.split(/<\/form\b/i)
    const [attributes = ''] = inside.split('>')
    return {
      action: attribute(attributes, 'action') ?? '',
      method: attribute(attributes, 'method')?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      fields: fieldsOf(inside.slice(attributes.length))
    }
  })
}

/** The first form that has all of the fields, or else the first one. */
export function formWith (page: string, fields: Fields): Form | undefined {
  const forms = formsOf(page)
  const names = Object.keys(fields)
  return forms.find((form) => names.every((name) => name in form.fields)) ?? forms[0]
}

function fieldsOf (form: string): Fields {
  const fields: Fields = {}
  let hasButton = false
  for (const [, tag, attributes = ''] of form.matchAll(/<(input|button|select|textarea)\b([^<>]*)/gi)) {
    const name = attribute(attributes, 'name') ?? ''
    const byDefault = tag?.toLowerCase() === 'button' ? 'submit' : 'text'
    const type = attribute(attributes, 'type')?.toLowerCase() ?? byDefault
    // A person clicks the first button.
    const isClicked = type === 'submit' && !hasButton
    if (name !== '' && type === 'submit') hasButton = true
    const isChecked = !/^(?:checkbox|radio)$/.test(type) || /\schecked\b/i.test(attributes)
    const isSent = name !== '' && isChecked && (isClicked || !UNSENT.has(type))
    if (isSent) fields[name] ??= attribute(attributes, 'value') ?? ''
  }
  return fields
}

function attribute (tag: string, name: string): string | undefined {
  const pattern = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i')
  const found = pattern.exec(` ${tag}`)
  return found === null ? undefined : decoded(found.slice(1).join(''))
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Decodes what an attribute of a login form may have: `&amp;`, `&#39;`, `&#x2F;`. */
const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]+));/gi, (all, decimal, hexadecimal, name) =>
    name === undefined
      ? String.fromCodePoint(decimal ?? parseInt(hexadecimal, 16))
      : NAMED[name] ?? all)
