// 127.0.0.0/8 in four decimal parts, as the URL parser writes every IPv4 address, and ::1 as it writes an IPv6 address.
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * Tells whether a host is this machine, which no request leaves: plain http is as secure there as https, for the
 * redirect_uri (RFC 9700 section 2.6) and for cookies that are `Secure`. Names below `localhost` belong to it (RFC 6761
 * section 6.3).
 *
 * @param hostname - the `hostname` of a `URL`, in which names are in lower case and addresses in their usual form
 */
export function isLoopback (hostname: string): boolean {
  return LOOPBACK.test(hostname)
}
