import type { FastifyRequest } from 'fastify'

/** The option `loginPage`. */
export type LoginPageOption = string | ((returnTo: string, request: FastifyRequest) => string)

/** The URL of the login page, with the URL to return to. Throws what a `loginPage` function throws. */
export function loginLocation (loginPage: LoginPageOption, returnTo: string, request: FastifyRequest): string {
  if (typeof loginPage === 'function') return asLocation(loginPage(returnTo, request))
  const page = loginPage.replace(/#.*/, '')
  const fragment = loginPage.slice(page.length)
  return `${page}${page.includes('?') ? '&' : '?'}return_to=${encodeURIComponent(returnTo)}${fragment}`
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
