import type { Arrival } from '../../flow/browser.ts'
import type { WireResponse } from '../../flow/wire.ts'
import type { Severity } from './errors.ts'

/** The page that a browser gets whose user is not logged in. */
export interface LoginPage {
  /** Address with its query. */
  url: string
  response: WireResponse
  /** Severity of a mistake in the page: `should` where a script may correct it. */
  severity: Severity
  /** The `action` of each form. Empty: the page's own address, with its query. */
  actions: string[]
}

const SCRIPT = /<script\b|\son[a-z]+\s*=|<meta\b[^<>]*http-equiv\s*=\s*["']?refresh/i

/** The page of an arrival; null where the service shows no page of its own. */
export function loginPageOf ({ at, exchange: { response }, url }: Arrival): LoginPage | null {
  if (at !== 'page' || response === undefined || response.status >= 400) return null
  const scripted = SCRIPT.test(response.body)
  return {
    url,
    response,
    severity: scripted ? 'should' : 'must',
    actions: actionsOf(response.body)
  }
}

/** Splits at tags instead of matching from tag to tag: the time grows with the size of the page. */
function actionsOf (body: string): string[] {
  return body.split(/<form\b/i).slice(1).map((rest) => {
    const [attributes = ''] = rest.split('>')
    const action = /\saction\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes)
    return action?.slice(1).join('') ?? ''
  })
}
