import { jsonObject } from '../../../testing/wire.ts'
import type { Exchange, Headers, WireResponse } from '../../../testing/wire.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'

/** Characters of a body that are shown. */
const LONGEST = 8 * 1024
/** Of a body that is cut, so many characters are left out at the end: they may be half of a secret. */
const MARGIN = 1024

/** Hides secrets in what a page shows. */
export interface Hiding {
  text: (text: string) => string
  exchange: (exchange: Exchange) => Exchange
}

/** An HTTP exchange that opens on demand: request and response, section by section. */
export function exchangeDetails (id: string, exchange: Exchange, hiding: Hiding): Html {
  const isCut = (exchange.response?.body.length ?? 0) > LONGEST
  const { request, response, networkError } = hiding.exchange(isCut ? firstKilobytes(exchange) : exchange)
  const { origin, pathname, searchParams } = new URL(request.url)
  const rows = (title: string, values: Headers) => list(title, values, hiding)
  return html`<details id="${id}">
<summary>${request.method} ${pathname}${response === undefined ? '' : ` → ${response.status}`}</summary>
<div class="wire">${text('Request to', origin + pathname)}
${rows('Parameters', [...searchParams])}${rows('Headers', request.headers)}
${rows('Form', [...new URLSearchParams(request.body)])}
${response === undefined ? null : html`${text('Response', String(response.status))}${rows('Headers', response.headers)}`}
${response === undefined || response.body === '' ? null : text('Body', hiding.text(readable(response, isCut)))}
${networkError === undefined ? null : text('No response', networkError.sentence)}</div></details>`
}

/** Cut before anything else is done with it: a body may have a megabyte. */
function firstKilobytes (exchange: Exchange): Exchange {
  const response = exchange.response as WireResponse
  return { ...exchange, response: { ...response, body: response.body.slice(0, LONGEST) } }
}

/** JSON with a line for each member; anything else as it is. */
function readable (response: WireResponse, isCut: boolean): string {
  if (isCut) return `${response.body.slice(0, -MARGIN)}…`
  const value = jsonObject(response)
  if (value === null) return response.body
  const members = Object.entries(value).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  return `{\n${members.join(',\n')}\n}`
}

const text = (title: string, value: string): Html => html`<h4>${title}</h4><pre>${value}</pre>`

function list (title: string, rows: Headers, hiding: Hiding): Html | null {
  if (rows.length === 0) return null
  const shown = rows.map(([name, value]) =>
    html`<dt>${hiding.text(name)}</dt><dd>${value === '' ? html`<span class="quiet">empty</span>` : hiding.text(value)}</dd>`)
  return html`<h4>${title}</h4><dl class="mono">${shown}</dl>`
}
