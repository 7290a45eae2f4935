const SITE = 'https://partner.example'

/** Whether the location is the login page, which sends the browser back to a path of the same site. */
export function isLogin (location: string): boolean {
  const encoded = /^\/login\?return_to=([\x21-\x25\x27-\x7e]+)$/.exec(location)?.[1]
  if (encoded === undefined) return false
  const returnTo = decodeURIComponent(encoded)
  return /^\/(?![/\\])/.test(returnTo) && new URL(returnTo, `${SITE}/login`).origin === SITE
}
