import { createHash } from 'node:crypto'
import type { Integration } from '../../../flow/integration.ts'
import type { Trial } from '../trials.ts'
import { html, Html } from './html.ts'
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

const PROGRESS = html`<noscript><meta http-equiv="refresh" content="2"></noscript>
<script>${new Html(SCRIPT)}</script>`

export interface Page {
  title: string
  sentence: string
  /** Above the title. */
  chip?: Html
  /** Buttons below the sentence: labels and addresses, the main one first. */
  buttons?: Record<string, string>
  body?: Html
  /** Whether the page may change by itself. */
  inProgress?: boolean
}

/** A whole page. */
export function layout (integration: Integration, page: Page): string {
  const { title, sentence, chip = null, buttons = {}, body = null, inProgress = false } = page
  const links = Object.entries(buttons)
    .map(([label, url]) => html`<a class="button" href="${url}">${label}</a>\n`)
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
<header>
<div class="wrap"><a class="brand" href="/">Portal simulator</a> Service: ${integration.base.href}</div>
</header>
<main id="content"><div class="wrap" id="live" data-ended="${String(!inProgress)}">
<div class="lede">
${chip}
<h1>${title}</h1>
<p>${sentence}</p>
<div class="actions">${links}</div>
</div>
${body}
</div></main>
</body>
</html>
`.text
}

/** A part of a page with a heading of its own. */
export const card = (id: string, title: string, body: Html, kind = ''): Html =>
  html`<section class="card ${kind}" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}
</section>`

/** A row of a `dl`. */
export const fact = (name: string, value: string): Html =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`

/** The path where a sign-in starts. */
export const START = '/external-oauth/local'

/** The path where a sign-in or a trial starts. */
export const startPath = (trial: Trial | null): string =>
  trial === null ? START : `${START}?trial=${trial.id}`
