import { createHash } from 'node:crypto'
import type { Integration } from '../../../flow/integration.ts'
import type { Verdict } from '../conclusion.ts'
import { html, Html } from './html.ts'
import type { Part } from './html.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

const hash = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

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

/** Shows a page again that changes by itself. */
const REFRESH = html`<noscript><meta http-equiv="refresh" content="2"></noscript>
<script>${new Html(SCRIPT)}</script>`

interface Page {
  title: string
  sentence: string
  /** Above the title. */
  label?: Part
  /** Below the sentence, the main one first. */
  buttons: Part
  body?: Part
  /** Whether the page may change by itself. */
  inProgress?: boolean
}

/** A whole page. */
export function layout (
  { base }: Integration,
  { title, sentence, label, buttons, body, inProgress }: Page
): string {
  // Without the name and password that a base URL may have.
  const app = base.origin + base.pathname
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Portal simulator</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
${inProgress && REFRESH}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<div class="wrap"><a class="brand" href="/">Portal simulator</a> Your application: <a href="${app}">${app}</a></div>
</header>
<main id="content"><div class="wrap">
<div class="lede">
${label}
<h1>${title}</h1>
<p>${sentence}</p>
<div class="actions">${buttons}</div>
</div>
${body}
</div></main>
</body>
</html>
`)
}

export const button = (label: string, url: string) =>
  html`<a class="button" href="${url}">${label}</a>\n`

export const chip = (verdict: Verdict, text: string) =>
  html`<span class="chip ${verdict}">${text}</span>`

/** A part of a page with a heading of its own. */
export const card = (id: string, title: string, body: Part) =>
  html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}
</section>`

/** Names and values, without those that are absent. */
export function facts (values: Record<string, string | undefined>) {
  return html`<dl>${Object.entries(values).map(([name, value]) =>
    value !== undefined && html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
