import { type Exchange, type Headers, type WireRequest, type WireResponse } from '../../../testing/wire.ts'
import { html, type Html } from './html.ts'

/** An HTTP exchange that opens on demand: what was sent, what came back. */
export function exchangeDetails (id: string, { request, response, trouble }: Exchange): Html {
  const status = response === undefined ? '' : ` → ${response.status}`
  return html`<details id="${id}"><summary>${request.method} ${new URL(request.url).pathname}${status}</summary>
<div class="wire">${sent(request)}${response === undefined ? null : received(response)}${trouble === undefined ? null : html`<h4>No answer</h4><p>${trouble.sentence}</p>`}</div></details>`
}

function sent ({ url, headers, body }: WireRequest): Html {
  const { origin, pathname, searchParams } = new URL(url)
  return html`<h4>Sent to</h4><pre>${origin}${pathname}</pre>
${listing('Parameters', [...searchParams])}${listing('Headers', headers)}${body === undefined ? null : listing('Form', [...new URLSearchParams(body)])}`
}

function received ({ status, headers, body }: WireResponse): Html {
  return html`<h4>Came back</h4><pre>${status}</pre>${listing('Headers', headers)}${body === '' ? null : html`<h4>Body</h4><pre>${readable(body)}</pre>`}`
}

function listing (title: string, entries: Headers): Html | null {
  if (entries.length === 0) return null
  return html`<h4>${title}</h4><dl class="mono">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value === '' ? html`<span class="quiet">empty</span>` : value}</dd>`)}</dl>`
}

/** JSON with line breaks; anything else as it came, cut where it gets long. */
function readable (body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body.length > 4000 ? `${body.slice(0, 4000)}…` : body
  }
}
