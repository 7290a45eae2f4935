import { createHash } from 'node:crypto'
import Negotiator from 'negotiator'
import type { OAuthErrorCode, RefusalReason } from '../errors.ts'

const style = `
:root { color-scheme: light dark }
body { font: 1.0625rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto 2rem; padding: 0 1.5rem }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .75rem }
p { margin: 0 0 1.25rem }
a {
  display: inline-block; padding: .6rem 1.1rem; border-radius: .5rem;
  background: #1f4fd8; color: #fff; text-decoration: none
}
a:focus-visible { outline: 3px solid; outline-offset: 3px }
small { opacity: .75; overflow-wrap: anywhere }
`.trim()

/** The page loads nothing and runs nothing; its own style is allowed by its hash. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

/** What the option `errorPage` gets: why the sign-in cannot go back to the portal (RFC 6749 section 4.1.2.1). */
export interface PageRefusal {
  /** HTTP status of the page. Whatever the function sets, the page is sent with it. */
  status: number
  /** The error code of the protocol. */
  error: OAuthErrorCode
  /** One of the plugin's fixed sentences in English. It has nothing of the request. */
  description: string
  /** The reason, as log and event have it. Translate by it. */
  reason: RefusalReason
  /** The URL at the portal where the person can start again. It is absent where the portal is not known. */
  loginUrl?: string | undefined
  /**
   * The id of the request, as log and event have it: support finds the log line by it. With Fastify's `requestIdHeader`
   * the caller chooses it, so escape it.
   */
  requestId: string
}

/** A request id that is shown. With `requestIdHeader` the caller chooses it: without spaces, it says nothing. */
const SHOWN_ID = /^[\x21-\x7e]{1,100}$/

const INVALID = 'The link that you followed is not a valid sign-in request of the portal.'
const FAILED = 'The service cannot process your request at the moment.'

/** Characters of an Accept header that are read; those of browsers have some hundred. */
const ACCEPT_LIMIT = 1000

/** Whether the Accept header prefers the page to JSON. */
export function prefersPage (accept: string | undefined): boolean {
  // Negotiator sorts all media types of the header: the limit keeps a long header cheap.
  const headers = { accept: accept?.slice(0, ACCEPT_LIMIT) }
  return new Negotiator({ headers }).mediaType(['application/json', 'text/html']) === 'text/html'
}

/**
 * The plugin's own page for a person whose sign-in cannot go back to the portal (RFC 6749 section 4.1.2.1). Nothing of
 * the request is in it: the description is one of ours, and the link is a registered one. The request id leads support
 * to the log line.
 */
export function ownErrorPage ({ status, description, loginUrl, requestId }: PageRefusal): string {
  const shownId = SHOWN_ID.test(requestId) ? ` Request ID: ${escapeHtml(requestId)}` : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign-in not possible</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>This sign-in cannot continue</h1>
<p>${status < 500 ? INVALID : FAILED} You were not signed in, and no data was sent.</p>
${loginUrl === undefined ? '' : `<p><a href="${escapeHtml(loginUrl)}">Start again</a></p>`}
<p><small>For support: ${escapeHtml(description)}${shownId}</small></p>
</main>
</body>
</html>
`
}

function escapeHtml (text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
