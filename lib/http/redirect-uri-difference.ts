import type { RedirectUriDifference } from '../errors.ts'
import { formDecode } from './parameters.ts'

/**
 * The most helpful difference: a slash at the end of the path, upper and lower case, or percent-encoding when nothing
 * else differs; otherwise the first part of the URI that differs. User information counts as part of the host,
 * a fragment as part of the query. The text that was given is never repeated.
 */
export function redirectUriDifference (given: string, registered: string): RedirectUriDifference {
  if (withoutTrailingSlash(given) === withoutTrailingSlash(registered)) return 'trailing slash'
  if (given.toLowerCase() === registered.toLowerCase()) return 'case'
  if (differsInEncoding(given, registered)) return 'encoding'
  const [one, other] = [partsOf(given), partsOf(registered)]
  return (['scheme', 'host', 'port', 'path'] as const).find((part) => one[part] !== other[part]) ?? 'query'
}

function withoutTrailingSlash (uri: string): string {
  return uri.replace(/^([^?#]*?)\/(?=[?#]|$)/, '$1')
}

/** Whether the URI was encoded differently, or once more. */
function differsInEncoding (given: string, registered: string): boolean {
  const decoded = formDecode(given)
  return decoded !== null && (decoded === registered || decoded === formDecode(registered))
}

/** RFC 3986 appendix B, with the authority split at its port. */
function partsOf (uri: string): Partial<Record<'scheme' | 'host' | 'port' | 'path', string>> {
  // The pattern matches any text, so the result is never null.
  const parts = /^(?:([^:/?#]*):)?(?:\/\/([^/?#]*))?([^?#]*)/.exec(uri) as RegExpExecArray
  const [, scheme = '', authority = '', path = ''] = parts
  const port = /:\d*$/.exec(authority)?.[0] ?? ''
  return { scheme, host: authority.slice(0, authority.length - port.length), port, path }
}
