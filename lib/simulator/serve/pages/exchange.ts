import type { Exchange, Headers } from '../../../flow/wire.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'

/**
 * An HTTP exchange that opens on demand, as it went over the wire, with a line for each parameter.
 */
export function exchangeDetails (id: string, { request, response, networkError }: Exchange): Html {
  const { method, url, headers, body = '' } = request
  const sent = message(
    `${method} ${url.replace(/[?&]/g, '\n  $&')}`, headers, body.replaceAll('&', '\n&')
  )
  const returned = response && message(String(response.status), response.headers, response.body)
  return html`<details id="${id}">
<summary>${method} ${new URL(url).pathname}${response === undefined ? '' : ` → ${response.status}`}</summary>
<div class="wire"><h3>Request</h3><pre>${sent}</pre>
${returned === undefined ? null : html`<h3>Response</h3><pre>${returned}</pre>`}
${networkError === undefined ? null : html`<h3>No response</h3><p>${networkError.sentence}</p>`}</div></details>`
}

const message = (first: string, headers: Headers, body: string): string =>
  [first, ...headers.map(([name, value]) => `${name}: ${value}`), '', body].join('\n').trim()
