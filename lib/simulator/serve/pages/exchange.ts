import type { Secrets } from '../../../testing/masking.ts'
import { jsonObject } from '../../../testing/wire.ts'
import type { Exchange, Headers, WireResponse } from '../../../testing/wire.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'

/** Characters of a body that are shown. */
const LONGEST = 8 * 1024
/** Of a body that is cut, so many characters are left out at the end: they may be half of a secret. */
const MARGIN = 1024

/** An HTTP exchange that opens on demand: request and response, section by section, secrets hidden. */
export function exchangeDetails (id: string, exchange: Exchange, secrets: Secrets): Html {
  const isCut = (exchange.response?.body.length ?? 0) > LONGEST
  const { request, response, networkError } = secrets.maskExchange(isCut ? firstKilobytes(exchange) : exchange)
  const { origin, pathname, searchParams } = new URL(request.url)
  return html`<details id="${id}">
<summary>${request.method} ${pathname}${response === undefined ? '' : ` → ${response.status}`}</summary>
<div class="wire">${text('Request to', origin + pathname)}
${list('Parameters', [...searchParams])}${list('Headers', request.headers)}
${list('Form', [...new URLSearchParams(request.body)])}
${response === undefined ? null : text('Response', String(response.status))}${list('Headers', response?.headers ?? [])}
${response === undefined || response.body === '' ? null : text('Body', readable(response, isCut))}
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

function list (title: string, rows: Headers): Html | null {
  if (rows.length === 0) return null
  const shown = rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value === '' ? '(empty)' : value}</dd>`)
  return html`<h4>${title}</h4><dl class="mono">${shown}</dl>`
}
