import { type Exchange, type Headers } from '../../testing/wire.ts'

/** An HTTP exchange as text, decoded for a reader. */
export interface ExchangeView {
  /** Method, path and status. */
  summary: string
  sections: Array<{ title: string, text: string } | { title: string, rows: Headers }>
}

type Section = ExchangeView['sections'][number]

const LONGEST = 4000

/** Request and response, section by section. */
export function readExchange ({ request, response, networkError }: Exchange): ExchangeView {
  const { origin, pathname, searchParams } = new URL(request.url)
  const form = request.body === undefined ? [] : [...new URLSearchParams(request.body)]
  return {
    summary: `${request.method} ${pathname}${response === undefined ? '' : ` → ${response.status}`}`,
    sections: [
      { title: 'Request to', text: origin + pathname },
      ...rows('Parameters', [...searchParams]),
      ...rows('Headers', request.headers),
      ...rows('Form', form),
      ...(response === undefined ? [] : answered(response)),
      ...(networkError === undefined ? [] : [{ title: 'No response', text: networkError.sentence }])
    ]
  }
}

function answered ({ status, headers, body }: NonNullable<Exchange['response']>): Section[] {
  return [
    { title: 'Response', text: String(status) },
    ...rows('Headers', headers),
    ...(body === '' ? [] : [{ title: 'Body', text: readable(body) }])
  ]
}

const rows = (title: string, rows: Headers): Section[] => rows.length === 0 ? [] : [{ title, rows }]

/** JSON with line breaks; anything else as it is, cut where it gets long. */
function readable (body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body.length > LONGEST ? `${body.slice(0, LONGEST)}…` : body
  }
}
