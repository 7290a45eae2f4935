const SITE = 'https://partner.example'

/** Whether a browser stays on the partner's site when the login page sends it to this return_to. */
export function staysHere (returnTo: string): boolean {
  return /^\/(?![/\\])/.test(returnTo) && new URL(returnTo, `${SITE}/login`).origin === SITE
}
