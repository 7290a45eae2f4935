import type { Exchange } from '../../flow/wire.ts'
import { header } from '../../flow/wire.ts'

const SCRIPT = '<script>alert(1)</script>'
/** Ends an attribute with double quotes (after q1) or single ones (after q2); then a script. */
export const INJECTION = `q1"q2'${SCRIPT}`
export const SCRIPT_URL = 'javascript:alert(1)//'
/** RFC 9112 §11.1. */
export const SPLIT = 'the-text\r\nX-Injected: 1\r\n\r\n'

/** Where the response repeats the request so that a browser runs it; null where it does not. */
export function reflectionIn ({ response }: Exchange): string | null {
  if (header(response, 'x-injected') !== '') return 'a header from the request'
  const type = header(response, 'content-type').toLowerCase()
  // Without a type, browsers guess: they take it for a page.
  const isPage = type === '' || type.includes('html') || type.includes('xml')
  const body = String(response?.body)
  if (!isPage) return null
  if (body.includes(SCRIPT)) return 'a page with the script from the request'
  if (/\s(?:href|src|action|formaction)\s*=\s*["']?\s*javascript:alert/i.test(body)) {
    return 'a page with a script as an address'
  }
  return leavesAttribute(body, 'q1', '"') || leavesAttribute(body, 'q2', '\'')
    ? 'a page with the quote from the request that ends an attribute'
    : null
}

/**
 * Whether the quote after the mark is not escaped, inside an attribute with such quotes or without
 * quotes.
 */
function leavesAttribute (body: string, mark: string, quote: string): boolean {
  const places = [...body.matchAll(new RegExp(mark + quote, 'g'))].slice(0, MOST_PLACES)
  return places.some(({ index }) => {
    const before = body.slice(Math.max(0, index - LONGEST_TAG), index)
    const tag = before.slice(before.lastIndexOf('<'))
    if (!/^<[a-z]/i.test(tag)) return false
    // The complete attributes are removed: the first = is that of the open one.
    const open = /=\s*(["']?)/.exec(tag.replace(/=\s*(?:"[^"]*"|'[^']*')/g, ''))
    return open !== null && (open[1] === quote || open[1] === '')
  })
}

/** A page may be a megabyte of marks. */
const MOST_PLACES = 50
const LONGEST_TAG = 4000
