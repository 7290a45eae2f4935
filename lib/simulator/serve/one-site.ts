import type { Integration } from '../../flow/integration.ts'

/**
 * Whether browsers count the portal and the service as one site, and so send a Strict cookie. The
 * port does not matter; localhost and 127.0.0.1 are two sites.
 */
export function isOneSite ({ redirectUri, authorizeUrl }: Integration): boolean {
  return new URL(redirectUri).hostname === new URL(authorizeUrl).hostname
}
