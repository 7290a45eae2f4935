import type { Arrival } from '../../flow/browser.ts'
import { describe } from '../../flow/failure.ts'
import type { WireResponse } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import type { Severity } from './errors.ts'
import { Untested } from './errors.ts'
import type { Service } from './service.ts'

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

/** What a browser got, without the query, which is long and differs each time. */
export const shownAt = ({ exchange }: Arrival): string => describe(exchange).replace(/\?\S*/, '')

/** @throws Untested when the service shows no page of its own */
export async function loginPageIn (service: Service): Promise<LoginPage> {
  const arrival = await service.loggedOut()
  const page = loginPageOf(arrival)
  if (page === null) {
    throw new Untested(`the service shows no login page of its own: ${shownAt(arrival)}`)
  }
  return page
}

/**
 * Where a proxy strips the path of the base URL, the redirects of the application lack that path.
 * Returns the fix if the address responds with the path in front.
 */
export async function strippedFix (
  { integration: { base, send } }: Service, url: string
): Promise<string | undefined> {
  const path = base.pathname.replace(/\/$/, '')
  const { pathname, search } = new URL(url)
  if (path === '' || pathname.startsWith(`${path}/`)) return undefined
  const exchange =
    await send({ method: 'GET', url: new URL(path + pathname + search, base).href, headers: [] })
  if (statusOf(exchange) >= 400) return undefined
  return `It responds at ${path}${pathname}: a proxy strips ${path}, and the application does ` +
    'not know of it. ' +
    'Give loginPage as a function that puts the path in front of the login page and of the ' +
    'address to return to: ' +
    `(returnTo) => '${path}/login?return_to=' + encodeURIComponent('${path}' + returnTo).`
}
