import { type Arrival } from '../../../testing/browser.ts'
import { header, statusOf } from '../../../testing/wire.ts'
import { type Bench } from './bench.ts'
import { fail, pass, type Rule, type Verdict } from './rule.ts'
import { Stop } from './untested.ts'

/** Comes before the rules on the login: behind a hook that refuses everybody there is no login page. */
export const AUTHORIZE_HOOK_RULE: Rule = {
  id: 'authorize.hook',
  section: 'RFC 6749 §3.1',
  severity: 'must',
  sentence: 'No hook of the application is in front of the authorization endpoint: ' +
    'the endpoint itself finds out who the user is, and sends others to the login page.',
  fix: 'Exempt /oauth/authorize, /oauth/token and /oauth/user from the application’s global hooks ' +
    '(login, API keys, bot protection).',
  test: notHooked
}

/**
 * Where a request without client_id is refused in the same way, the endpoint did not even read the request.
 *
 * @throws Stop where the application may know its users by something else than a cookie. Behind a proxy that names the
 * user in a header, nobody comes without that header.
 */
async function notHooked (bench: Bench): Promise<Verdict> {
  const arrival = await bench.authorize()
  if (!refusedAtOnce(bench, arrival)) return pass
  const incomplete = await bench.authorize({ client_id: undefined })
  if (!refusedAtOnce(bench, incomplete) || statusOf(incomplete.exchange) !== statusOf(arrival.exchange)) return pass
  const got = `${bench.told(arrival.exchange)}, also for a request without client_id`
  const { cookies, headers } = bench.settings.user
  if (cookies.length > 0) return fail(got)
  const given = headers.length === 0
    ? 'make a user known with --cookie, --header or --login-command'
    : `if it reads the header ${headers.map(([name]) => name).join(', ')}, give a value that it accepts`
  throw new Stop(`A hook of the application answers in front of the authorization endpoint (${got}): exempt ` +
    `${new URL(bench.portal.authorizeUrl).pathname} from the application’s global hooks, and ${given}`)
}

/**
 * 401 or 403 at the endpoint and no way to log in: no page, and no challenge that makes a browser ask for a password.
 */
export function refusedAtOnce ({ portal }: Bench, { at, url, exchange: { response } }: Arrival): boolean {
  const refused = response?.status === 401 || response?.status === 403
  const isPage = header(response, 'content-type').toLowerCase().startsWith('text/html')
  const asks = header(response, 'www-authenticate') !== ''
  return at === 'page' && url.split('?')[0] === portal.authorizeUrl && refused && !isPage && !asks
}
