import { createHash } from 'node:crypto'
import { html, Html } from './html.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Allows the one stylesheet, and the one script and its fetches. */
export const POLICY = [
  "default-src 'none'",
  `style-src ${hash(STYLE)}`,
  `script-src ${hash(SCRIPT)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

const PROGRESS = html`<noscript><meta http-equiv="refresh" content="2"></noscript>
<script>${new Html(SCRIPT)}</script>`

export interface Page {
  title: string
  /** The service under test. */
  baseUrl: string
  body: Html
  /** Whether the page may change by itself. */
  inProgress?: boolean
}

/** A whole page. */
export function layout ({ title, baseUrl, body, inProgress = false }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Portal simulator</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
${inProgress ? PROGRESS : null}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><div class="wrap">
<a class="brand" href="/">Portal simulator</a>
Service: <span class="mono">${baseUrl}</span>
</div></header>
<main id="content"><div class="wrap">
${body}
</div></main>
</body>
</html>
`.text
}
