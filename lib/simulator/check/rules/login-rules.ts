import { type Arrival } from '../../../testing/browser.ts'
import { type Cookie } from '../../../testing/cookies.ts'
import { type WireResponse } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { fail, pass, type Rule, type Verdict, when } from './rule.ts'
import { Untested } from './untested.ts'

/** The way through the partner's own login, where sign-ins most often break. */
export const LOGIN_RULES: Rule[] = [
  {
    id: 'login.cookie',
    section: 'spec §4.1, SameSite',
    severity: 'must',
    sentence: 'The session cookie is sent when the browser comes from the portal.',
    fix: 'Set the session cookie with SameSite=Lax: browsers keep a Strict one back when another site, the portal, sends them.',
    test: cookieTravels
  },
  {
    id: 'login.page',
    section: 'spec §4.1',
    severity: 'must',
    sentence: 'A browser whose user is not logged in ends on a page, not in a loop or an error.',
    fix: 'Open the authorization address in a private window and follow where it goes.',
    test: async (bench) => {
      const arrival = await bench.loginPage()
      if (arrival.at === 'loop') return fail('redirects that do not end', 'Exempt the login page from the login hook.')
      const status = arrival.exchange.response?.status as number
      return when(arrival.at !== 'page' || (status < 500 && status !== 404), `${bench.told(arrival.exchange)} at ${bench.secrets.mask(arrival.url)}`)
    }
  },
  {
    id: 'login.form-action',
    section: 'spec §4.1, CSP Level 3 §6.4.1',
    severity: 'must',
    sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
    fix: 'Add the portal’s origin to form-action on the login page: browsers apply it to the redirects that follow the form.',
    test: async (bench) => {
      const { url, exchange } = await loginPage(bench)
      const blocking = formActionBlocking(policiesOf(exchange.response as WireResponse), url, bench.portal.redirectUri)
      return when(blocking === null, `${blocking}`)
    }
  },
  {
    id: 'login.return',
    section: 'spec §4.1',
    severity: 'must',
    sentence: 'The address that the login page returns to leads to the portal.',
    fix: 'Return to the whole address of the authorization request: its path under the proxy and its query.',
    test: async (bench) => returnsToPortal(bench, await loginPage(bench))
  }
]

/** Does what a browser does that comes from another site: leaves the Strict cookies at home. */
async function cookieTravels (bench: Bench): Promise<Verdict> {
  const cookies = await learned(bench)
  const strict = cookies.filter(({ sameSite }) => sameSite === 'strict')
  if (strict.length === 0) return certain(cookies)
  const rest = cookies.filter(({ sameSite }) => sameSite !== 'strict')
  const browser = bench.browserOf({ cookies: rest, headers: bench.settings.user.headers })
  const arrival = await bench.authorize({}, browser)
  if (bench.codeOf(arrival) !== null) return pass
  return fail(`SameSite=Strict on ${strict.map(({ name }) => name).join(', ')}; without it ${bench.told(arrival.exchange)}`)
}

/** The user's cookies, with what the service said of them in this or any earlier answer. */
async function learned (bench: Bench): Promise<Cookie[]> {
  await bench.authorize()
  return bench.browser.jar.all()
}

function certain (cookies: Cookie[]): Verdict {
  const silent = cookies.filter(({ sameSite }) => sameSite === undefined).map(({ name }) => name)
  if (silent.length === 0) return pass
  return { outcome: 'untested', reason: `SameSite of ${silent.join(', ')} is not known: give the whole Set-Cookie line, or --login-command` }
}

/** @throws Untested when the service shows no page of its own */
async function loginPage (bench: Bench): Promise<Arrival> {
  const arrival = await bench.loginPage()
  const shown = arrival.at === 'page' && (arrival.exchange.response?.status as number) < 400
  if (!shown) throw new Untested(`the service shows no login page of its own: ${bench.told(arrival.exchange)}`)
  return arrival
}

async function returnsToPortal (bench: Bench, { url }: Arrival): Promise<Verdict> {
  const values = [...new URL(url).searchParams.values()]
  const back = values.find((value) => value.includes('/oauth/authorize'))
  if (back === undefined) throw new Untested('the login page names no return address')
  await bench.code()
  const arrival = await bench.browser.open(new URL(back, url).href)
  return when(bench.codeOf(arrival) !== null, `${back.split('?')[0]}: ${bench.told(arrival.exchange)}`)
}
