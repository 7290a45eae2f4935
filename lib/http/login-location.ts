import type { FastifyRequest } from 'fastify'

/** The option `loginPage`. */
export type LoginPageOption = string | ((returnTo: string, request: FastifyRequest) => string)

/** The URL of the login page, with the URL to return to. Throws what a `loginPage` function throws. */
export function loginLocation (loginPage: LoginPageOption, request: FastifyRequest): string {
  const returnTo = relative(request.originalUrl)
  if (typeof loginPage === 'function') return asLocation(loginPage(returnTo, request))
  const page = loginPage.replace(/#.*/, '')
  const fragment = loginPage.slice(page.length)
  return `${page}${page.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo)}${fragment}`
}

/** The URL of the request on this site: without a scheme, host or double slash that leads to another site. */
function relative (url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, '').replace(/^[/\\]*/, '/')
}

function asLocation (url: unknown): string {
  if (typeof url !== 'string' || url === '') {
    // It may be the promise of an async function. Unhandled, its rejection would end the process.
    Promise.resolve(url).catch(() => {})
    throw new TypeError('loginPage must return a URL')
  }
  // A header field takes visible ASCII only (RFC 9110 section 5.5).
  return url.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}
