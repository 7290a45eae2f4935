import { Browser, redirectTarget } from '../../testing/browser.ts'
import { CookieJar, type Cookie } from '../../testing/cookies.ts'
import { type Integration } from '../../testing/settings.ts'
import { type Exchange, statusOf } from '../../testing/wire.ts'
import { formActionBlocking, policiesOf } from '../rules/content-security-policy.ts'

/** What a browser without a session meets when the portal sends it to the service. */
export interface LoggedOutVisit {
  /** Status of the authorization endpoint. */
  status: number
  /** The page at the end of the redirects; null when they do not end on a page of the service. */
  page: {
    url: string
    status: number
    /** The `form-action` directive that keeps its form from leading back to the portal. */
    formAction: string | null
  } | null
  /** Cookies that the service set on the way. */
  cookies: Cookie[]
}

/** Follows the first response of the authorization endpoint to the login page, as a browser would. */
export async function visitLoggedOut (portal: Integration, url: string, first: Exchange): Promise<LoggedOutVisit> {
  const status = statusOf(first)
  const target = redirectTarget(first, url)
  if (target === null || new URL(target).origin !== portal.base.origin) return { status, page: null, cookies: [] }
  const browser = new Browser(portal, new CookieJar())
  const arrival = await browser.open(target)
  const { response } = arrival.exchange
  const cookies = browser.jar.all()
  if (arrival.at !== 'page' || response === undefined) return { status, page: null, cookies }
  const formAction = formActionBlocking(policiesOf(response), arrival.url, portal.redirectUri)
  return { status, page: { url: arrival.url, status: response.status, formAction }, cookies }
}
