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
  // Encoded differently, or once more.
  if ([registered, formDecode(registered)].includes(formDecode(given))) return 'encoding'
  const [one, other] = [partsOf(given), partsOf(registered)]
  return (['scheme', 'host', 'port', 'path'] as const).find((part) => one[part] !== other[part]) ?? 'query'
}

function withoutTrailingSlash (uri: string): string {
  return uri.replace(/^([^?#]*?)\/(?=[?#]|$)/, '$1')
}

/** RFC 3986 appendix B, with the authority split at its port. */
const PARTS = /^(?:(?<scheme>[^:/?#]*):)?(?:\/\/(?<host>[^/?#]*?)(?<port>:\d*)?(?=[/?#]|$))?(?<path>[^?#]*)/

function partsOf (uri: string): Record<string, string | undefined> {
  // The pattern matches any text.
  const { groups } = PARTS.exec(uri) as RegExpExecArray
  return groups as Record<string, string | undefined>
}
