import { type ExchangeView } from '../exchange.ts'
import { html, type Html } from './html.ts'

/** An HTTP exchange that opens on demand. */
export function exchangeDetails (id: string, { summary, sections }: ExchangeView): Html {
  return html`<details id="${id}"><summary>${summary}</summary>
<div class="wire">${sections.map((section) => html`<h4>${section.title}</h4>${content(section)}`)}</div></details>`
}

function content (section: ExchangeView['sections'][number]): Html {
  if ('text' in section) return html`<pre>${section.text}</pre>`
  const rows = section.rows.map(([name, value]) => html`<dt>${name}</dt><dd>${valueOf(value)}</dd>`)
  return html`<dl class="mono">${rows}</dl>`
}

const valueOf = (value: string): Html => value === '' ? html`<span class="quiet">empty</span>` : html`${value}`
