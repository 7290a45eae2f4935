import type { Arrival } from '../../testing/browser.ts'
import type { WireResponse } from '../../testing/wire.ts'

/** What a browser whose user is not logged in is shown. */
export interface LoginPage {
  /** Address with its query. */
  url: string
  response: WireResponse
  /** Whether scripts may do what the page does not show: then little can be told with certainty. */
  scripted: boolean
  forms: Form[]
}

interface Form {
  /** Undefined: the form is sent to the page's own address, with its query. */
  action: string | undefined
}

/** The page of an arrival; null where the service shows no page of its own. */
export function loginPageOf ({ at, exchange: { response }, url }: Arrival): LoginPage | null {
  if (at !== 'page' || response === undefined || response.status >= 400) return null
  const scripted = /<script\b|\son[a-z]+\s*=|<meta\b[^<>]*http-equiv\s*=\s*["']?refresh/i.test(response.body)
  return { url, response, scripted, forms: formsOf(response.body) }
}

/** Splits at tags instead of matching from tag to tag: the time grows with the size of the page. */
function formsOf (body: string): Form[] {
  return body.split(/<form\b/i).slice(1).map((rest) => {
    const attributes = rest.split('>')[0] as string
    const action = /\saction\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes)
    return { action: action?.[1] ?? action?.[2] ?? action?.[3] }
  })
}
