import { formsOf } from '../flow/login-form.ts'
import type { Exchange, WireResponse } from '../flow/wire.ts'
import { header, statusOf } from '../flow/wire.ts'
import { isPrivate } from './address.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { expectUnframed } from './headers.ts'
import { noInjection, noOpenRedirect } from './return-address.ts'
import type { Rule } from './rule.ts'
import { expect, Failed, Untested } from './rule.ts'
import { backOf, endOf, isHtml, loginPage } from './session.ts'
import { expectTravels } from './session-cookie.ts'
import type { Subject } from './subject.ts'
import { notThePlugin, reasonsOf } from './voice.ts'

/** Does the login lead back? */
export const LOGIN: readonly Rule[] = [
  {
    id: 'login.page',
    severity: 'must',
    sentence: 'A browser whose user is not logged in ends on the login page.',
    fix:
      'Create the login page, or correct the option loginPage. Where a proxy strips a path, /app, give loginPage as ' +
      "a function: (returnTo) => '/app/login?return_to=' + encodeURIComponent('/app' + returnTo).",
    isGate: true,
    test: pageIsShown
  },
  {
    id: 'login.cookie',
    severity: 'must',
    sentence: 'Browsers keep the session cookie, and send it when they come from the portal.',
    fix:
      'Set the session cookie with SameSite=Lax, Path=/, HttpOnly, over https Secure, and no Domain. Behind a proxy ' +
      'see whether it takes Set-Cookie away, and whether the app trusts it (trustProxy).',
    isGate: true,
    test: expectTravels
  },
  {
    id: 'login.form-action',
    severity: 'must',
    sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
    fix: 'Add the portal’s origin to form-action on the login page.',
    test: formLeadsBack
  },
  {
    id: 'login.framing',
    severity: 'should',
    sentence: 'No other site can show the login page in a frame.',
    fix: "Send Content-Security-Policy: frame-ancestors 'none' with the login page.",
    test: async (subject) => expectUnframed((await loginPage(subject)).exchange)
  },
  {
    id: 'login.return',
    severity: 'must',
    sentence: 'The login leads back to the authorization request, and so to the portal.',
    fix: "After the login redirect to app.partnerSso.returnTo(request, reply) ?? '/'.",
    test: loginReturns
  }
]

/** Other logins, which may end the session of the user. */
export const LOGIN_LAST: readonly Rule[] = [
  {
    id: 'login.open-redirect',
    severity: 'must',
    sentence: 'The login leads to no other site, whatever the address of its page names.',
    fix: 'Redirect to app.partnerSso.returnTo(request, reply), which returns addresses of this app only.',
    test: noOpenRedirect
  },
  {
    id: 'login.no-injection',
    severity: 'must',
    sentence: 'The login page does not print its address as HTML.',
    fix: 'Escape what the page shows of its URL, also in attributes and scripts.',
    test: noInjection
  }
]

async function pageIsShown (subject: Subject): Promise<void> {
  const { arrival } = await subject.nobody()
  const { exchange, url } = arrival
  if (arrival.at === 'callback') throw new Untested('it needs a login page (option loginPage)')
  if (arrival.at === 'elsewhere') return isReachable(subject, arrival.target as URL)
  expect(arrival.at === 'page', endOf(arrival), { fix: 'Exempt the login page from the login hook.' })
  const { body } = exchange.response as WireResponse
  const isError = statusOf(exchange) >= 400
  if (!isError && !isHtml(exchange)) throw notThePlugin(exchange, 'authorize')
  // `currentUser` may send the login page itself, or refuse by itself: then the person is left without a login.
  const isOwn = url.startsWith(subject.integration.authorizeUrl)
  const isLogin = isOwn || [401, 403].includes(statusOf(exchange))
  if (!isError || (isLogin && formsOf(body).length > 0)) return
  if (isOwn && subject.options.users[0]?.headers !== undefined) {
    throw new Untested('it needs a login page: without the header of its user the app refuses the request')
  }
  throw new Failed(endOf(arrival), isOwn ? { severity: 'should', fix: NO_LOGIN } : {})
}

const NO_LOGIN =
  'A user who is not logged in has no way to log in here: give the plugin the option loginPage, and let ' +
  '`currentUser` return null where nobody is logged in.'

/** A login at another site is fine, but for one that browsers cannot reach. */
function isReachable ({ integration: { base } }: Subject, { hostname, origin }: URL): void {
  expect(!isPrivate(hostname) || isPrivate(base.hostname), `the browser is sent to ${origin}`, {
    fix: 'A proxy or the app builds redirects with an internal host name: build them without scheme and host.'
  })
}

/** Browsers apply the form-action of a page to the redirects that follow its form. */
async function formLeadsBack (subject: Subject): Promise<void> {
  const { exchange } = await loginPage(subject)
  const response = exchange.response as WireResponse
  const forms = formsOf(response.body)
  if (forms.length === 0) throw new Untested('it needs a login page with a form')
  const { redirectUri } = subject.integration
  const blocking = formActionBlocking(policiesOf(response), redirectUri)
  const steps = subject.options.users.length === 0 ? [] : (await subject.session()).steps
  // A login that responds with JSON was sent by a script, which form-action does not touch.
  const isScript = /json/.test(header(steps[0]?.hops[0]?.response, 'content-type'))
  expect(blocking === undefined || isScript, String(blocking), {
    severity: forms.some(({ method }) => method === 'POST') ? 'must' : 'should',
    fix:
      `Add ${new URL(redirectUri).origin} to form-action on the login page: browsers apply it to the redirects ` +
      "that follow the form. Helmet’s default is 'self'."
  })
}

/** The way back, by a real login: to the authorization request that it came from. */
async function loginReturns (subject: Subject): Promise<void> {
  const session = await subject.session()
  const { first, steps } = session
  const last = steps.at(-1)
  if (last === undefined) throw new Untested('it needs a login by a form; sign in once in a browser, by serve')
  const back = backOf(subject, session)
  if (back !== undefined) return isSame(first.hops[0] as Exchange, back)
  // JSON for a script, or a page that names the endpoint.
  const { exchange, hops } = last
  const isJson = hops.length === 1 && !isHtml(exchange)
  const isNamed = exchange.response?.body.includes('/oauth/authorize') === true
  if (last.at === 'page' && statusOf(exchange) < 400 && (isJson || isNamed)) {
    throw new Untested(`it needs a browser: a script leads on (${endOf(last)})`)
  }
  throw new Failed(`after the login the browser is not sent back: ${endOf(last)}`)
}

/** The request that the login leads back to has the parameters of the first one. */
function isSame (first: Exchange, back: Exchange): void {
  const { searchParams: sent } = new URL(first.request.url)
  const { searchParams: returned } = new URL(back.request.url)
  const names = [...sent.keys()].filter((name) => (returned.get(name) ?? '') !== sent.get(name))
  expect(names.length === 0, `the login returns to the request, and changes or drops ${names.join(', ')}`, {
    reasons: reasonsOf(back),
    fix:
      'Encode the address once, for the URL of the login page and in its form (encodeURIComponent), and decode it ' +
      'once.'
  })
}
