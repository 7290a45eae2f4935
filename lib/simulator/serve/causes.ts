import { type Integration } from '../../testing/settings.ts'
import { type LoggedOutVisit } from './logged-out-visit.ts'

/** A usual reason why a browser does not come back from the service. */
export interface Cause {
  title: string
  /** How the developer tells it from the others. */
  sign: string
  fix: string
  /** What the simulator saw itself that points to this cause; null when it saw nothing. */
  seen: string | null
}

/** The usual causes; first those for which the simulator saw a sign. */
export function usualCauses (portal: Integration, visit: LoggedOutVisit): Cause[] {
  const causes = [
    loginPageMissing(visit), returnToDropped(visit), formAction(portal, visit), cookieNotSent(portal, visit),
    hookInFront(visit)
  ]
  return [...causes.filter(({ seen }) => seen !== null), ...causes.filter(({ seen }) => seen === null)]
}

function loginPageMissing (visit: LoggedOutVisit): Cause {
  const page = visit.page
  return {
    title: 'The login page does not exist',
    sign: 'The browser shows an error, and the address bar shows the address of the login page.',
    fix: 'Correct loginPage. It includes the prefix under which your application is reached.',
    seen: page != null && page.status >= 400 ? `${withoutQuery(page.url)} answered ${page.status}.` : null
  }
}

function returnToDropped (visit: LoggedOutVisit): Cause {
  const page = visit.page
  const lost = page != null && page.status < 400 && ![...new URL(page.url).searchParams.values()].some(leadsBack)
  return {
    title: 'The login page drops return_to',
    sign: 'After the login the browser shows a page of your application. ' +
      'Sign in at the portal again: now it works at once, because the session exists.',
    fix: 'Keep return_to in the login form (a hidden field), and redirect to it after the login.',
    seen: lost ? `The address of the login page, ${withoutQuery(page.url)}, has no return_to.` : null
  }
}

const leadsBack = (value: string): boolean => value.includes('/oauth/authorize')

function formAction ({ redirectUri }: Integration, visit: LoggedOutVisit): Cause {
  const directive = visit.page?.formAction ?? null
  return {
    title: 'Content-Security-Policy blocks the way back',
    sign: 'After the login button nothing happens. The browser console names form-action.',
    fix: `Add ${new URL(redirectUri).origin} to form-action on the login page: ` +
      'browsers apply it to the redirects after a form too.',
    seen: directive === null ? null : `The login page sends “${directive}”.`
  }
}

function cookieNotSent (portal: Integration, visit: LoggedOutVisit): Cause {
  const { pathname } = new URL(portal.authorizeUrl)
  const kept = visit.cookies.find(({ sameSite, path = '/' }) => sameSite === 'strict' || !pathname.startsWith(path))
  const reason = kept?.sameSite === 'strict' ? 'SameSite=Strict' : `Path=${kept?.path}`
  return {
    title: 'The session cookie is not sent',
    sign: 'The login page asks again though you are logged in at your application. ' +
      'The portal is another site: browsers do not send SameSite=Strict cookies when it redirects to you.',
    fix: 'Set the session cookie with SameSite=Lax and Path=/.',
    seen: kept === undefined ? null : `The service set the cookie ${kept.name} with ${reason}. Is it your session?`
  }
}

function hookInFront (visit: LoggedOutVisit): Cause {
  return {
    title: 'A hook of your application answers first',
    sign: 'The browser shows an error (401, 403, JSON), and the address bar shows /oauth/authorize.',
    fix: 'Exempt the three /oauth routes from the global login and CSRF hooks.',
    seen: visit.status >= 400 ? `/oauth/authorize answered ${visit.status}.` : null
  }
}

const withoutQuery = (url: string): string => url.split('?')[0] as string
