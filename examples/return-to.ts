/** The path to go to after the login. Always a page of this site: an open redirect would help phishing. */
export function safeReturnTo (returnTo: unknown): string {
  const site = 'http://site.invalid'
  if (typeof returnTo !== 'string' || !URL.canParse(returnTo, site)) return '/'
  const { origin, pathname, search } = new URL(returnTo, site)
  // One slash at the start: browsers take // for the start of a host name.
  return origin === site ? pathname.replace(/^\/+/, '/') + search : '/'
}
