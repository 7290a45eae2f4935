import type { Fields } from './user.ts'

/** A form of a page, with the values that it sends unless somebody changes them. */
export interface Form {
  /** Empty: the page's own address, with its query. */
  action: string
  method: 'GET' | 'POST'
  fields: Fields
}

/**
 * The forms of a page. Splits at tags instead of matching from tag to tag: the time grows with the
 * size of the page.
 *
 * @param given - fields that will be filled in: a box of one of these names is ticked
 */
export function formsOf (page: string, given: Fields = {}): Form[] {
  return page.split(/<form\b/i).slice(1).map((text) => {
    const [inside = ''] = text.split(/<\/form\b/i)
    const [attributes = ''] = inside.split('>')
    return {
      action: attribute(attributes, 'action'),
      method: /^post$/i.test(attribute(attributes, 'method')) ? 'POST' : 'GET',
      fields: fieldsOf(inside.slice(attributes.length), given)
    }
  })
}

/** The first form that has all of the fields, or else the first one. */
export function formWith (page: string, fields: Fields): Form | undefined {
  const forms = formsOf(page, fields)
  const names = Object.keys(fields)
  return forms.find((form) => names.every((name) => name in form.fields)) ?? forms[0]
}

function fieldsOf (form: string, given: Fields): Fields {
  const fields: Fields = {}
  let hasButton = false
  for (const [tag] of form.matchAll(/<(?:input|button|select|textarea)\b[^<>]*/gi)) {
    const name = attribute(tag, 'name')
    const type = attribute(tag, 'type') || (/^<button/i.test(tag) ? 'submit' : 'text')
    const isButton = /^submit$/i.test(type)
    const isLeftOut = /^(?:button|image|reset|file)$/i.test(type) ||
      (/^(?:checkbox|radio)$/i.test(type) && !/\schecked\b/i.test(tag) && !(name in given))
    // A person clicks the first button.
    if (name === '' || isLeftOut || (isButton && hasButton)) continue
    hasButton ||= isButton
    fields[name] ??= attribute(tag, 'value')
  }
  return fields
}

/** The value of an attribute; empty where there is none. */
function attribute (tag: string, name: string): string {
  const pattern = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i')
  const [, ...values] = pattern.exec(` ${tag}`) ?? []
  return decoded(values.join(''))
}

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'"
}

/** Decodes what an attribute of a login form may have: `&amp;`, `&#39;`, `&#x2F;`. */
const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,6}|[xX][\da-fA-F]{1,5})|(amp|lt|gt|quot|apos));/g, (_all, number, name) =>
    number === undefined
      ? String(NAMED[name])
      : String.fromCodePoint(Number(`0${number}`)))
