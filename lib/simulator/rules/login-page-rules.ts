import { describe } from '../../flow/failure.ts'
import { statusOf } from '../../flow/wire.ts'
import { formActionBlocking, policiesOf } from './content-security-policy.ts'
import { Failed, Untested } from './errors.ts'
import { expectUnframed } from './headers.ts'
import { loginPageIn, strippedFix } from './login-page.ts'
import type { Rule } from './rule.ts'
import { expect } from './rule.ts'
import { refusedAtOnce } from './without-user.ts'

/**
 * The page where a browser ends whose user is not logged in. This rule comes before the sign-in of
 * the user.
 */
export const LOGIN_PAGE_RULE: Rule = {
  id: 'login.page',
  section: 'login',
  severity: 'must',
  sentence: 'A browser whose user is not logged in ends on a page, not in a loop or an error.',
  fix: 'Open the authorization address in a private window and follow its redirects.',
  async test (service) {
    const arrival = await service.loggedOut()
    const got = describe(arrival.exchange)
    const status = statusOf(arrival.exchange)
    expect(
      arrival.at !== 'loop', 'redirects that do not end',
      'Exempt the login page from the login hook.'
    )
    if (arrival.at === 'callback') {
      throw new Untested('the service has no login page (option loginPage)')
    }
    expect(!refusedAtOnce(service, arrival), got, LOCKED_OUT, 'should')
    if (arrival.at !== 'page' || (status < 500 && status !== 404)) return
    const fix = status === 404 ? await strippedFix(service, arrival.url) ?? CREATE : undefined
    throw new Failed(`${got} at ${new URL(arrival.url).pathname}`, fix)
  }
}

const CREATE = 'Create the login page, or correct the option loginPage.'
const LOCKED_OUT = 'A user who is not logged in has no way to log in here: ' +
  'let the endpoint redirect to the login page, and exempt it from hooks that respond before it ' +
  'does.'

/** Another site that frames the page can direct the clicks and the typing of its user. */
export const LOGIN_FRAME_RULE: Rule = {
  id: 'login.framing',
  section: 'RFC 6749 §10.13',
  severity: 'should',
  sentence: 'No other site can show the login page in a frame.',
  fix: 'Send Content-Security-Policy: frame-ancestors \'none\' with the login page.',
  after: ['login.page'],
  test: async (service) => expectUnframed(await loginPageIn(service))
}

/** The form of that page: a form-action without the portal keeps it from leading back there. */
export const LOGIN_FORM_RULE: Rule = {
  id: 'login.form-action',
  section: 'CSP Level 3 §6.4.1',
  severity: 'must',
  sentence: 'The login page’s Content-Security-Policy lets its form lead back to the portal.',
  fix:
    'Add the portal’s origin to form-action on the login page: ' +
    'browsers apply it to the redirects that follow the form.',
  after: ['login.page'],
  async test (service) {
    const { url, response, actions, severity } = await loginPageIn(service)
    const { redirectUri } = service.integration
    if (actions.length === 0) throw new Untested('the login page has no form')
    const blocking = formActionBlocking(policiesOf(response), url, redirectUri)
    const fix = `Add ${new URL(redirectUri).origin} to form-action on the login page: ` +
      'browsers apply it to the redirects that follow the form.'
    // Certain only where the login is known to redirect: form-action does not touch a page that
    // follows the form and leads on by itself, nor a form that a script sends.
    expect(
      blocking === undefined, String(blocking), fix,
      service.settings.loginRedirects ? severity : 'should'
    )
  }
}
